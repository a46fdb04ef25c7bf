from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.windows.heap_sites import (
    EarlierHeap,
    SomeSites,
    chosen,
    heap_window,
    remembered,
)
from nemutator_agent.windows.observed import KnownProgram, RuntimeCounts
from nemutator_common.profiles.heap import Allocated
from nemutator_common.windows import SymbolFrame, site_id

from tests.fakes.window_parts import in_use

FRAMES = (SymbolFrame("main.f", "m.go", 3),)


def heap(*sizes: int) -> dict[tuple[int, ...], Allocated]:
    return {(number,): in_use(size) for number, size in enumerate(sizes)}


def test_the_largest_and_the_growing_are_chosen() -> None:
    before = remembered(heap(100, 90, 80, 1, 2, 3))
    after = heap(100, 90, 80, 50, 40, 3)
    assert chosen(after, before, most=4) == [(0,), (1,), (3,), (4,)]


def test_without_growth_there_are_fewer() -> None:
    before = remembered(heap(100, 90, 80))
    assert chosen(heap(100, 90, 70), before, most=4) == [(0,), (1,)]


def test_a_site_without_anything_in_use_is_not_told() -> None:
    assert chosen(heap(0, 0, 7), EarlierHeap(), most=8) == [(2,)]


def test_what_was_not_kept_may_have_been_there() -> None:
    before = remembered(heap(100, 50, 49), most=2)
    assert before.growth((2,), 60) == 10
    assert before.growth((0,), 100) == 0


@given(st.lists(st.integers(0, 1 << 40), max_size=200), st.integers(2, 64))
def test_at_most_so_many_and_each_once(sizes: list[int], most: int) -> None:
    stacks = heap(*sizes)
    taken = list(chosen(stacks, EarlierHeap(), most=most))
    assert len(taken) == len(set(taken)) <= most
    assert all(stacks[one].bytes_in_use for one in taken)


def test_stacks_of_one_name_are_one_site() -> None:
    found = SomeSites(
        program=KnownProgram("shop", "go1.26.8", "ab"),
        rate=1,
        collection=None,
        sites=(
            ((1,), FRAMES, in_use(10)),
            ((2,), FRAMES, in_use(5)),
            ((3,), (SymbolFrame("main.g"),), in_use(100)),
        ),
        rest=in_use(7, objects=2),
        rest_sites=4,
        counts=RuntimeCounts(1, 1, 0.0),
    )
    window, stacks = heap_window(found)
    assert [(one.in_use_bytes, one.in_use_objects) for one in window.sites] == [(100, 1), (15, 2)]
    assert window.sites[1].site == site_id(FRAMES)
    assert stacks[site_id(FRAMES)] == FRAMES
    assert (window.rest.in_use_bytes, window.rest_sites, window.collection) == (7, 4, None)
