from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.profiles.model import Frame, FrameTable, Profile, Share, functions, merged

from tests.common.profiles.made import FRAMES, profiles, small

STACKS = st.lists(st.tuples(st.tuples(st.integers(0, 3)), st.integers(1, 100)))


@given(STACKS)
def test_merging_loses_no_sample_and_leaves_no_twins(stacks: list[tuple[tuple[int], int]]) -> None:
    once = merged(stacks)
    assert sum(count for _, count in once) == sum(count for _, count in stacks)
    assert len({stack for stack, _ in once}) == len(once)
    assert merged(once) == once


@given(st.lists(FRAMES))
def test_a_frame_has_one_number(frames: list[Frame]) -> None:
    table = FrameTable()
    numbers = [table.number(frame) for frame in frames]
    assert [table.frames[number] for number in numbers] == frames
    assert len(set(table.frames)) == len(table.frames)


def test_shares_are_of_functions() -> None:
    assert functions(small()) == (
        Share("main.add", "go", 6, 6),
        Share("do_syscall_64", "kernel", 3, 3),
        Share("main.main", "go", 1, 10),
        Share("main.work", "go", 0, 6),
    )


def test_recursion_counts_once() -> None:
    profile = Profile(
        hz=1, started_at=0, seconds=1, frames=(Frame("f"),), stacks=(((0, 0), 5),), recorded=5
    )
    assert functions(profile) == (Share("f", "unknown", 5, 5),)


@given(profiles())
def test_no_share_is_larger_than_the_whole(profile: Profile) -> None:
    shares = functions(profile)
    assert all(0 <= one.flat <= one.cumulative <= profile.recorded for one in shares)
    assert sum(one.flat for one in shares) == sum(n for stack, n in profile.stacks if stack)


def test_samples_and_losses_are_time() -> None:
    assert small().sampled_cpu_seconds == 0.12
