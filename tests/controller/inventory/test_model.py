from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.model import (
    LevelSums,
    Tally,
    UseLevels,
    added,
    larger,
    level_sums,
)


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
