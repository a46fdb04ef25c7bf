import pytest
from nemutator_common import names
from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.model import (
    LevelSums,
    NodeFigures,
    Tally,
    UseLevels,
    added,
    larger,
    level_sums,
)
from nemutator_controller.inventory.node_documents import node_item
from nemutator_controller.kube.node_objects import WatchedNode
from nemutator_controller.kube.objects import Metadata


def test_what_is_not_known_adds_nothing_and_is_not_zero() -> None:
    assert added(None, None) is None
    assert added(None, 1.5) == added(1.5, None) == 1.5
    assert larger(None, 0.0) == 0.0
    tally = Tally()
    tally.add(Tally(pods=1, requests=CpuMemory(100, 10)))
    assert (tally.pods, tally.cpu_cores, tally.memory_bytes) == (1, None, None)
    tally.add(Tally(pods=2, cpu_cores=0.5, memory_bytes=7, throttled=0.1, requests=CpuMemory(1, 1)))
    tally.add(Tally(cpu_cores=0.25, throttled=0.05))
    assert (tally.pods, tally.cpu_cores, tally.memory_bytes) == (3, 0.75, 7)
    assert (tally.throttled, tally.requests) == (0.1, CpuMemory(101, 11))


def test_levels_of_containers_add_up() -> None:
    one = UseLevels(0.1, 0.2, 100, 200)
    assert level_sums([one, one]) == LevelSums(CpuMemory(200, 200), CpuMemory(400, 400))


@pytest.mark.parametrize(
    ("kept", "raw"), [(None, 6_000), ("4", 4_000), ("6500m", 6_000), ("NaN", 6_000), ("-1", 6_000)]
)
def test_raw_cpu_is_what_the_webhook_has_kept_where_allocatable_says_more(
    kept: str | None, raw: int
) -> None:
    annotations = {} if kept is None else {str(names.RAW_CPU): kept}
    node = WatchedNode(metadata=Metadata(name="n", annotations=annotations))
    found = NodeFigures(
        name="n",
        node=node,
        allocatable=CpuMemory(6_000, 1),
        capacity=CpuMemory(6_000, 1),
        most_pods=None,
        tally=Tally(),
        is_ready=True,
    )
    assert found.raw_cpu_millis == raw
    assert node_item(found, None).raw_cpu_cores == (None if raw == 6_000 else 4.0)
