from nemutator_common.profiles import flamegraph, folded
from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import functions

from tests.common.profiles.made import KERNEL, MAIN

GROWS, SHRINKS = Allocated(4, 400, 3, 300), Allocated(9, 90, 0, 0)
HEAP = HeapProfile(
    started_at=5.0,
    rate=512,
    frames=(MAIN, KERNEL),
    sites=(((1, 0), GROWS), ((0,), SHRINKS)),
    notes=("as of garbage collection 9",),
)


def test_amounts_are_added_column_by_column() -> None:
    assert GROWS.plus(SHRINKS) == HEAP.total == Allocated(13, 490, 3, 300)


def test_a_stack_weighs_what_it_has_in_use() -> None:
    assert HEAP.stacks == (((1, 0), 300),)
    assert [(one.flat, one.cumulative) for one in functions(HEAP)] == [(300, 300), (0, 300)]
    assert folded.render(HEAP).endswith(" 300\n")


def test_its_graph_says_how_much_is_in_use() -> None:
    page = flamegraph.render(HEAP, title="shop")
    assert '"unit":"bytes"' in page
    assert '"bytes_in_use":300' in page
    assert "as of garbage collection 9" in page
