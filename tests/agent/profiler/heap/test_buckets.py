import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.heap import buckets
from nemutator_agent.profiler.heap.buckets import ForgedError, TornError, first_site, read
from nemutator_agent.profiler.heap.layouts import Layout
from nemutator_agent.profiler.heap.memory import Memory

from tests.fakes.heaps import NEW, OLD, SITES, TEXT, VARIABLES, Bucket, heap, reader

LAYOUTS = pytest.mark.parametrize("layout", [OLD, NEW], ids=["1.26", "1.27"])


def words_of(chain: list[Bucket], layout: Layout = OLD) -> list[int]:
    found = read(Memory(reader(heap(chain, layout=layout))), SITES if chain else 0, layout)
    assert not found.left_out
    return list(found.words)


@LAYOUTS
def test_sites_are_read_in_the_order_of_the_chain(layout: Layout) -> None:
    chain = [Bucket(), Bucket(size=48, stack=(0x400031,), active=(5, 5)), Bucket(active=(0, 0))]
    assert words_of(chain, layout) == [
        *(3, 1, 192, 64, 2, 0x400011, 0x400021),
        *(5, 5, 240, 240, 1, 0x400031),
    ]  # fmt: skip


@LAYOUTS
def test_before_anything_is_published_all_cycles_count(layout: Layout) -> None:
    waiting = Bucket(size=10, stack=(0x400011,), active=(0, 0), future=((1, 0), (2, 1), (4, 0)))
    memory = Memory(reader(heap([waiting], layout=layout)))
    found = read(memory, SITES, layout)
    assert found.unpublished
    assert list(found.words) == [7, 1, 70, 10, 1, 0x400011]


@given(
    st.lists(
        st.builds(
            Bucket,
            size=st.integers(1, 1 << 30),
            stack=st.lists(st.integers(0, (1 << 64) - 1), max_size=40).map(tuple),
            active=st.tuples(st.integers(0, 1 << 20), st.integers(0, 1 << 20)).map(
                lambda two: (max(two), min(two))
            ),
        ),
        max_size=20,
    ),
    st.sampled_from([OLD, NEW]),
)
def test_every_chain_that_go_makes_is_read_whole(chain: list[Bucket], layout: Layout) -> None:
    expected: list[int] = []
    for one in chain:
        if one.active[0]:
            size = one.size
            expected += [*one.active, one.active[0] * size, one.active[1] * size]
            expected += [len(one.stack), *one.stack]
    assert words_of(chain, layout) == expected


def test_no_site_yet() -> None:
    memory = Memory(reader(heap([])))
    assert first_site(memory, [VARIABLES], TEXT) == 0
    assert list(read(memory, 0, OLD).words) == []


def test_the_first_site_is_told_from_what_looks_like_one() -> None:
    pieces = heap([Bucket()])
    elsewhere = 0x700000
    pieces[elsewhere] = struct.pack("<QQQ", 0, 0x1234, VARIABLES)
    memory = Memory(reader(pieces))
    candidates = [elsewhere + 8, elsewhere + 16, 0x10, VARIABLES]
    assert first_site(memory, candidates, TEXT) == SITES
    assert first_site(memory, candidates[:-1], TEXT) is None
    assert first_site(memory, candidates, range(1, 2)) is None


def test_a_chain_in_a_circle_is_forged() -> None:
    pieces = heap([Bucket(), Bucket()])
    last = bytearray(pieces[SITES])
    struct.pack_into("<Q", last, len(last) // 2 + 8, SITES)
    pieces[SITES] = bytes(last)
    with pytest.raises(ForgedError, match="leads back"):
        read(Memory(reader(pieces)), SITES, OLD)


@pytest.mark.parametrize(
    ("word", "value", "expected"),
    [
        (1, 3, "address of a site"),
        (1, 1 << 60, "address of a site"),
        (2, 2, "site of memory"),
        (4, 1 << 60, "size that memory can have"),
        (5, 1 << 20, "at most 1026 calls"),
        (8, 1 << 60, "fewer objects"),
        (9, 1 << 63, "fewer objects"),
    ],
)
def test_what_go_never_writes_is_forged(word: int, value: int, expected: str) -> None:
    pieces = heap([Bucket()])
    forged = bytearray(pieces[SITES])
    struct.pack_into("<Q", forged, 8 * word, value)
    pieces[SITES] = bytes(forged)
    with pytest.raises(ForgedError, match=expected):
        read(Memory(reader(pieces)), SITES, OLD)


def test_more_bytes_than_can_be_allocated_are_forged() -> None:
    chain = [Bucket(size=1 << 40, active=(1 << 40, 0))]
    with pytest.raises(ForgedError, match="fewer bytes"):
        words_of(chain, NEW)


def test_a_site_that_was_read_half_changed_is_torn() -> None:
    with pytest.raises(TornError):
        words_of([Bucket(active=(1, 2))])
    pieces = heap([Bucket()])
    torn = bytearray(pieces[SITES])
    struct.pack_into("<Q", torn, 8 * 10, 1)
    pieces[SITES] = bytes(torn)
    with pytest.raises(TornError):
        read(Memory(reader(pieces)), SITES, OLD)


def test_more_sites_than_are_kept_are_left_out() -> None:
    chain = [Bucket(stack=(0x400011,))] * (buckets.MOST_SITES + 1)
    found = read(Memory(reader(heap(chain, layout=NEW))), SITES, NEW)
    assert found.left_out
    assert len(found.words) == buckets.MOST_SITES * 6
