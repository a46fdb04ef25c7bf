from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import Frame, Weighed
from nemutator_ctl.flame.view import view
from nemutator_ctl.function_table import MOST_FUNCTIONS

from tests.common.profiles.made import small

HEAP = HeapProfile(
    started_at=1.0,
    rate=9,
    frames=(Frame("main.keep"),),
    sites=(((0,), Allocated(1, 3 << 20, 1, 3 << 20)),),
)


def test_the_functions_with_most_of_their_own_come_first() -> None:
    lines = view(small(), "cart.pb.gz").splitlines()
    assert lines[0] == "cart.pb.gz: 10 samples in 10.0 s at 100 Hz in 3 stacks"
    assert lines[1] == "  note: a note"
    assert lines[3].split() == ["OWN", "OWN%", "TOTAL", "TOTAL%", "FUNCTION"]
    assert lines[4].split() == ["6", "60.0%", "6", "60.0%", "main.add"]


def test_memory_is_shown_as_memory_and_others_by_their_unit() -> None:
    lines = view(HEAP, "heap").splitlines()
    assert lines[0] == "heap: 3.00 MiB in use in 1 stack"
    assert lines[3].split()[:3] == ["3.00", "MiB", "100.0%"]
    locks = Weighed(frames=(Frame("f"),), stacks=(((0,), 7),), unit="locks\x1b[2J")
    assert view(locks, "x").splitlines()[0] == "x: 7 locks\\x1b[2J in 1 stack"
    waits = Weighed(frames=(Frame("f"),), stacks=(((0,), 1_500_000_000),), unit="nanoseconds")
    lines = view(waits, "x").splitlines()
    assert lines[0] == "x: 1.500 s in 1 stack"
    assert lines[3].split()[:3] == ["1.500", "s", "100.0%"]


def test_nothing_is_said_and_the_rest_is_counted() -> None:
    assert "Nothing in it weighs anything." in view(Weighed(frames=(), stacks=()), "x")
    frames = tuple(Frame(f"f{number}") for number in range(MOST_FUNCTIONS + 2))
    stacks = tuple(((number,), 1) for number in range(len(frames)))
    assert view(Weighed(frames=frames, stacks=stacks), "x").endswith("and 2 more\n")
