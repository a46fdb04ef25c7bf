import dataclasses
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.profiles import folded, pprof
from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import Profile

from tests.common.profiles.made import profiles, small


def named(profile: Profile) -> list[tuple[list[object], int]]:
    """Stacks with their frames: numbers of frames are of no account."""
    return [([profile.frames[n] for n in stack], count) for stack, count in profile.stacks]


@given(profiles())
def test_what_is_written_is_read_back(profile: Profile) -> None:
    back = pprof.decode(pprof.encode(profile))
    assert named(back) == named(profile)
    assert (back.recorded, back.lost, back.labels) == (
        profile.recorded,
        profile.lost,
        profile.labels,
    )
    assert (back.hz, back.cpu_seconds) == (profile.hz, profile.cpu_seconds)
    assert back.notes == profile.notes
    assert back.seconds == pytest.approx(profile.seconds)
    assert back.started_at == pytest.approx(profile.started_at)


@given(profiles())
def test_the_same_profile_gives_the_same_bytes(profile: Profile) -> None:
    assert pprof.encode(profile) == pprof.encode(profile)


def test_it_is_small_and_has_no_time_of_writing() -> None:
    written = pprof.encode(small())
    assert len(written) < 500
    assert written[4:8] == bytes(4)
    assert gzip.decompress(written)


@given(profiles(), st.tuples(*[st.integers(0, (1 << 62) - 1)] * 4), st.integers(0, 1 << 40))
def test_a_heap_is_read_back(drawn: Profile, values: tuple[int, int, int, int], rate: int) -> None:
    allocated = Allocated(*values)
    heap = HeapProfile(
        started_at=drawn.started_at,
        rate=rate,
        frames=drawn.frames,
        sites=tuple((stack, allocated) for stack, _ in drawn.stacks),
        notes=drawn.notes,
        labels=drawn.labels,
    )
    back = pprof.decode_heap(pprof.encode_heap(heap))
    shown = [([back.frames[n] for n in stack], one) for stack, one in back.sites]
    assert shown == [([heap.frames[n] for n in stack], one) for stack, one in heap.sites]
    assert (back.rate, back.notes, back.labels) == (rate, heap.notes, heap.labels)


def test_labels_of_samples_come_back_and_the_stacks_are_those_of_all() -> None:
    first, second = (("pid", "7"), ("pod", "x")), (("pid", "8"),)
    profile = dataclasses.replace(
        small(),
        stacks=(((0,), 5), ((1, 0), 2)),
        samples=(((0,), 3, first), ((1, 0), 2, second), ((0,), 2, ())),
        recorded=7,
    )
    back = pprof.decode(pprof.encode(profile))
    assert [(count, labels) for _, count, labels in back.samples] == [
        (3, first),
        (2, second),
        (2, ()),
    ]
    assert [count for _, count in back.stacks] == [5, 2]
    assert folded.render(back) == folded.render(profile)
    assert pprof.decode(pprof.encode(back)) == back
