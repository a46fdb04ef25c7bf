import dataclasses

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.profiles.difference import difference
from nemutator_common.profiles.flame_layout import (
    DEEPEST,
    KINDS,
    LONGEST_NAME,
    Boxes,
    boxes,
    embedded,
)
from nemutator_common.profiles.model import Frame, Profile

from tests.common.profiles.made import profiles, small

ROOM = 1_000_000


def drawn(found: Boxes) -> list[tuple[int, str, int]]:
    names = [found.strings[name] for name in found.name]
    return list(zip(found.depth, names, found.samples, strict=True))


def test_equal_beginnings_are_one_box() -> None:
    found, left_out = boxes(small(), everything="all", room=ROOM)
    assert drawn(found) == [
        (0, "all", 10),
        (1, "main.main", 10),
        (2, "do_syscall_64", 3),
        (2, "main.work", 6),
        (3, "main.add", 6),
    ]
    assert left_out == 0
    assert found.line == [0, 10, 0, 20, 30]
    assert [KINDS[kind if kind >= 0 else -1 - kind] for kind in found.kind] == [
        "unknown",
        "go",
        "kernel",
        "go",
        "go",
    ]
    assert [kind < 0 for kind in found.kind] == [False, False, False, False, True]


@given(profiles())
def test_no_box_is_wider_than_the_one_above(profile: Profile) -> None:
    found, _ = boxes(profile, everything="all", room=ROOM)
    left = [profile.recorded]
    for depth, samples in zip(found.depth, found.samples, strict=True):
        assert depth < len(left)
        left[depth] -= samples
        assert left[depth] >= 0
        left[depth + 1 :] = [samples]
    assert found.samples[0] == sum(count for _, count in profile.stacks)


@given(profiles())
def test_everything_that_is_wide_enough_is_there(profile: Profile) -> None:
    found, left_out = boxes(profile, everything="all", room=ROOM)
    if left_out == 0:
        deepest = max((len(stack) for stack, _ in profile.stacks), default=0)
        assert max(found.depth) == deepest


def test_thin_boxes_are_left_out_and_counted() -> None:
    frames = tuple(Frame(f"f{number}") for number in range(500))
    stacks = (((0,), 1_000_000), *(((number, 0), 1) for number in range(1, 500)))
    profile = dataclasses.replace(small(), frames=frames, stacks=stacks, recorded=1_000_499)
    found, left_out = boxes(profile, everything="all", room=ROOM)
    assert drawn(found) == [(0, "all", 1_000_499), (1, "f0", 1_000_499)]
    assert left_out == 499


def many(count: int, name: str = "") -> Profile:
    """*count* functions beside each other, the last the busiest, each of which calls another."""
    frames = tuple(Frame(f"f{number:04}{name}") for number in range(2 * count))
    stacks = tuple(((count + number, number), 1_000 + number) for number in range(count))
    recorded = sum(samples for _, samples in stacks)
    return dataclasses.replace(small(), frames=frames, stacks=stacks, recorded=recorded)


@given(st.integers(0, 20_000), st.sampled_from(["", "</script>", "\u2028" * 40]))
def test_the_largest_have_the_room_that_there_is(room: int, name: str) -> None:
    profile = many(60, name)
    (everything, none), (found, left_out) = (
        boxes(profile, everything="all", room=ROOM),
        boxes(profile, everything="all", room=room),
    )
    assert (len(everything.depth), none) == (121, 0)
    assert len(embedded(dataclasses.asdict(found))) <= max(room, 200) + 100
    kept, without = set(drawn(found)), set(drawn(everything)) - set(drawn(found))
    assert bool(without) == bool(left_out)
    assert min(one[2] for one in kept) >= max((one[2] for one in without), default=0)
    # They stand in the order in which all of them would.
    assert drawn(found) == [one for one in drawn(everything) if one in kept]


def test_a_name_without_end_is_cut() -> None:
    profile = dataclasses.replace(many(1), frames=(Frame("f" * 5_000), Frame("g", "x" * 5_000)))
    found, _ = boxes(profile, everything="all", room=ROOM)
    assert max(map(len, found.strings)) == LONGEST_NAME
    assert found.strings[2].endswith("f…")


def test_a_stack_without_end_is_cut() -> None:
    profile = dataclasses.replace(
        small(), frames=(Frame("f"),), stacks=((tuple([0] * 5000), 1),), recorded=1
    )
    found, left_out = boxes(profile, everything="all", room=ROOM)
    assert max(found.depth) == DEEPEST
    assert left_out == 1


@given(profiles(), profiles())
def test_of_a_difference_each_box_says_what_was_there_before(one: Profile, two: Profile) -> None:
    found, _ = boxes(difference(one, two), everything="all", room=ROOM)
    assert len(found.before) == len(found.samples)
    assert all(
        0 <= before <= both for before, both in zip(found.before, found.samples, strict=True)
    )
    changed = difference(one, two)
    assert (found.before[0], found.samples[0]) == (changed.before, changed.before + changed.after)


def test_of_one_profile_there_is_no_before() -> None:
    assert boxes(small(), everything="all", room=ROOM)[0].before == []
