import dataclasses

from nemutator_common.profiles.difference import difference
from nemutator_common.profiles.model import Frame, Weighed
from nemutator_ctl.diff.view import MOST_FUNCTIONS, view

from tests.common.profiles.made import small


def test_what_grew_stands_above_what_shrank() -> None:
    after = dataclasses.replace(small(), stacks=(((2, 1, 0), 16), ((0,), 1)), recorded=17)
    lines = view(difference(small(), after), "a.pb.gz", "b.pb.gz").splitlines()
    assert lines[0] == "before: a.pb.gz: 10"
    assert lines[1] == "after:  b.pb.gz: 17 (+7)"
    more = lines.index("More:")
    assert lines[more + 2].split() == ["+10", "6", "+10", "6", "main.add"]
    less = lines.index("Less:")
    assert lines[less + 2].split() == ["-3", "3", "-3", "3", "do_syscall_64"]


def test_no_difference_is_said() -> None:
    shown = view(difference(small(), small()), "a", "b")
    assert "No function has more." in shown
    assert "No function has less." in shown


def test_what_was_scaled_is_said() -> None:
    long = dataclasses.replace(small(), seconds=20.0)
    assert "multiplied by 0.500" in view(difference(long, small()), "a", "b")


def test_long_lists_are_cut_and_counted_and_bytes_are_mebibytes() -> None:
    frames = tuple(Frame(f"f{number}") for number in range(MOST_FUNCTIONS + 3))
    stacks = tuple(((number,), (number + 1) << 20) for number in range(len(frames)))
    grown = Weighed(frames=frames, stacks=stacks, unit="bytes")
    shown = view(difference(Weighed(frames=(), stacks=(), unit="bytes"), grown), "a", "b")
    assert "and 3 more functions" in shown
    assert "+13.00 MiB" in shown
