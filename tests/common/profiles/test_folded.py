import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.profiles import folded
from nemutator_common.profiles.model import Frame, Profile, functions

from tests.common.profiles.made import profiles, small


def test_the_outermost_comes_first_and_marks_are_set() -> None:
    assert folded.render(small()) == (
        "main.main 1\nmain.main;do_syscall_64_[k] 3\nmain.main;main.work;main.add_[i] 6\n"
    )


@given(profiles())
def test_every_line_is_a_stack_and_none_is_lost(profile: Profile) -> None:
    lines = folded.render(profile).split("\n")
    assert lines.pop() == ""
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == profile.recorded
    depths = {max(len(stack), 1) for stack, _ in profile.stacks}
    assert {line.count(";") + 1 for line in lines} == depths
    assert all(len(line.split()) == 2 for line in lines)


def test_names_that_repeat_too_often_are_left_out_and_counted() -> None:
    deep = tuple([0] * 1000)
    stacks = tuple(((*deep, *[0] * more), 1) for more in range(20))
    profile = Profile(
        hz=1,
        started_at=0,
        seconds=1,
        frames=(Frame("f" * 4000),),
        stacks=stacks,
        recorded=20,
    )
    text = folded.render(profile)
    assert len(text) < folded.LARGEST + 1000
    assert sum(int(line.rpartition(" ")[2]) for line in text.splitlines()) == 20
    assert "[left_out] " in text


@given(profiles())
def test_what_is_written_is_read_again(profile: Profile) -> None:
    text = folded.render(profile)
    if text:
        assert folded.render(folded.parse(text)) == text


def test_marks_of_other_tools_are_understood() -> None:
    read = folded.parse("main;write_[k] 2\r\n\nmain;add_[i] 3\nmain;write_[k] 1\n")
    kinds = {frame.function: (frame.kind, frame.inlined) for frame in read.frames}
    assert kinds == {
        "main": ("unknown", False),
        "write": ("kernel", False),
        "add": ("unknown", True),
    }
    assert {share.function: share.flat for share in functions(read)} == {
        "main": 0,
        "write": 3,
        "add": 3,
    }


def test_names_may_have_spaces_and_long_stacks_are_cut() -> None:
    read = folded.parse("operator new(unsigned long);f 4\n")
    assert {frame.function for frame in read.frames} == {"operator new(unsigned long)", "f"}
    deep = folded.parse(";".join(["f"] * 5000) + " 1")
    assert len(deep.stacks[0][0]) == folded.DEEPEST


@given(st.text(max_size=200))
def test_any_text_is_folded_stacks_or_is_refused(text: str) -> None:
    try:
        read = folded.parse(text)
    except folded.MalformedFoldedError:
        return
    assert read.stacks


def test_too_much_text_is_refused() -> None:
    with pytest.raises(folded.MalformedFoldedError, match="more than"):
        folded.parse("a" * (folded.LARGEST + 1))
