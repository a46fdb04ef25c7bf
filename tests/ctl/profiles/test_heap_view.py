from dataclasses import replace

from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import Frame
from nemutator_ctl.function_table import MOST_FUNCTIONS
from nemutator_ctl.profiles.heap_view import heap_view
from nemutator_ctl.profiles.requests import decode
from nemutator_ctl.profiles.view import progress

from tests.ctl.profiles.test_requests import document

PROFILE = decode(document(measure="heap", title="shop (pid 7) on n1"))
KEEP = Frame("main.keep", "/src/srv/main.go", 27, kind="go")
MAIN = Frame("main.main", "/src/srv/main.go", 9, kind="go")
MIB = 1 << 20
HEAP = HeapProfile(
    started_at=1.0,
    rate=524_288,
    frames=(KEEP, MAIN),
    sites=(((0, 1), Allocated(40, 4 * MIB, 30, 3 * MIB)), ((1,), Allocated(1, MIB, 1, MIB))),
    notes=("as of garbage collection 9",),
)


def view(heap: HeapProfile) -> list[str]:
    return heap_view(PROFILE, heap, signing_in="knock first").splitlines()


def test_what_is_in_use_comes_first() -> None:
    assert view(HEAP)[:3] == [
        "shop (pid 7) on n1: 4.00 MiB in use in 31 objects",
        "  allocated since the start: 5.00 MiB in 41 objects",
        "  note: as of garbage collection 9",
    ]


def test_who_has_allocated_it_follows() -> None:
    lines = view(HEAP)
    assert lines[4].split() == ["OWN", "OWN%", "TOTAL", "TOTAL%", "FUNCTION", "ALLOCATED", "AT"]
    assert lines[5].split() == [
        *("3.00", "MiB", "75.0%", "3.00", "MiB", "75.0%", "main.keep", "main.go:27")
    ]
    assert lines[6].split() == [
        *("1.00", "MiB", "25.0%", "4.00", "MiB", "100.0%", "main.main", "main.go:9")
    ]
    assert any("flame graph: http://" in line for line in lines)


def test_nothing_in_use_is_said() -> None:
    freed = replace(HEAP, sites=(((0,), Allocated(4, MIB, 0, 0)),))
    assert "Nothing that was recorded is in use." in view(freed)


def test_the_rest_is_counted() -> None:
    frames = tuple(Frame(f"f{number}") for number in range(MOST_FUNCTIONS + 2))
    sites = tuple(((number,), Allocated(1, 9, 1, 9)) for number in range(len(frames)))
    assert "and 2 more" in view(replace(HEAP, frames=frames, sites=sites))


def test_while_it_is_read_the_terminal_says_so() -> None:
    line = progress(replace(PROFILE, state="running"), waited_s=2)
    assert line == "shop (pid 7) on n1: reading its heap, 2 s"
