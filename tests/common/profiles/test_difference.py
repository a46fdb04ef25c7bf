import dataclasses

import pytest
from hypothesis import given
from nemutator_common.profiles.difference import changes, difference
from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import Frame, Profile, Weighed, functions
from nemutator_common.profiles.sums import NotAlikeError

from tests.common.profiles.made import ADD, KERNEL, MAIN, WORK, profiles, small


@given(profiles())
def test_a_profile_does_not_differ_from_itself(profile: Profile) -> None:
    found = difference(profile, profile)
    assert found.before == found.after == sum(weight for _, weight in profile.stacks)
    assert changes(found) == ()


@given(profiles(), profiles())
def test_nothing_of_the_second_is_left_out(one: Profile, two: Profile) -> None:
    found = difference(one, two)
    assert found.after == sum(weight for _, weight in two.stacks)
    grown = {
        (change.function, change.kind): change.after - change.before for change in changes(found)
    }
    for share in functions(two):
        if all(share.function != other.function for other in functions(one)):
            assert grown[share.function, share.kind] == share.cumulative


def test_what_takes_twice_the_time_is_twice_as_large() -> None:
    long = dataclasses.replace(small(), seconds=20.0)
    found = difference(long, small())
    assert found.scale == 0.5
    assert (found.before, found.after) == (5, 10)  # of 3, 1.5 and 0.5
    assert "length and rate" in found.scaled_to


def test_functions_that_grew_stand_first_and_those_that_shrank_last() -> None:
    after = dataclasses.replace(small(), stacks=(((2, 1, 0), 16), ((0,), 1)))
    one, two, *_, last = changes(difference(small(), after))
    assert (one.function, one.growth, one.before, one.after) == ("main.add", 10, 6, 16)
    assert (two.function, two.growth, two.after - two.before) == ("main.work", 0, 10)
    assert (last.function, last.growth) == ("do_syscall_64", -3)


def test_lines_and_addresses_of_another_build_do_not_count_and_the_later_are_shown() -> None:
    moved = [dataclasses.replace(one, line=one.line + 7, address=4096) for one in (MAIN, WORK)]
    after = dataclasses.replace(small(), frames=(*moved, ADD, KERNEL))
    found = difference(small(), after)
    assert changes(found) == ()
    assert {frame.line for frame in found.frames} == {17, 27, 30, 0}


def test_heaps_are_compared_as_they_are() -> None:
    def heap(kept: int) -> HeapProfile:
        sites = (((0,), Allocated(9, 900, kept, kept)),)
        return HeapProfile(started_at=0, rate=1, frames=(Frame("main.keep"),), sites=sites)

    found = difference(heap(100), heap(300))
    assert (found.unit, found.scale, found.scaled_to) == ("bytes", 1.0, "")
    [change] = changes(found)
    assert (change.function, change.growth) == ("main.keep", 200)


def test_what_says_nothing_of_its_length_is_compared_by_shares() -> None:
    frames = (Frame("a"), Frame("b"))
    one = Weighed(frames=frames, stacks=(((0,), 10), ((1,), 10)))
    two = Weighed(frames=frames, stacks=(((0,), 30), ((1,), 10)))
    found = difference(one, two)
    assert found.scaled_to == "the sum of the second"
    assert [(change.function, change.growth) for change in changes(found)] == [
        ("a", 10),
        ("b", -10),
    ]


def test_an_empty_one_is_compared_as_it_is() -> None:
    nothing = Weighed(frames=(), stacks=())
    assert difference(nothing, nothing).scale == 1.0
    assert changes(difference(nothing, nothing)) == ()


def test_time_and_memory_are_not_compared() -> None:
    heap = HeapProfile(started_at=0, rate=1, frames=(), sites=())
    with pytest.raises(NotAlikeError, match="one counts CPU time, and the other memory in use"):
        difference(small(), heap)
    with pytest.raises(NotAlikeError, match="samples of stacks, and the other bytes of stacks"):
        difference(Weighed(frames=(), stacks=()), Weighed(frames=(), stacks=(), unit="bytes"))
