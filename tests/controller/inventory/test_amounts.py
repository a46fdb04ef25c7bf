from nemutator_controller.inventory.amounts import NOTHING, CpuMemory, count, cpu_memory


def test_amounts_are_read_exactly_and_nonsense_is_nothing() -> None:
    assert cpu_memory({"cpu": "1500m", "memory": "1Gi"}) == CpuMemory(1500, 1 << 30)
    assert cpu_memory({"memory": "100M"}) == CpuMemory(0, 100_000_000)
    assert cpu_memory({"cpu": "many"}) == cpu_memory({}) == NOTHING
    assert count({"pods": "110"}, "pods") == 110
    assert count({}, "pods") is None


def test_sums_and_maxima_are_of_each_by_itself() -> None:
    one, other = CpuMemory(1, 20), CpuMemory(10, 2)
    assert one + other == CpuMemory(11, 22)
    assert one.at_least(other) == CpuMemory(10, 20)
