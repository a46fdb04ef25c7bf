from hypothesis import given
from nemutator_common.profiles import folded
from nemutator_common.profiles.model import Frame, Profile

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
