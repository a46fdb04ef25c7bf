from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nemutator_common.wire import Kind, Pressures, ProcessUsage, Report, Runtime, Workload
from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.machine_figures import count_machine
from nemutator_controller.inventory.model import ClusterFigures, ContainerName, UseLevels

from tests.fakes.reports import report


def group(path: str, kind: Kind, cpu: float | None, memory: int, **more: Any) -> Workload:
    known = {"container_id": None, "pod_uid": None, "processes": 0, "pressures": Pressures()}
    return Workload(
        path=path,
        kind=kind,
        name=path.rpartition("/")[2],
        cpu_cores=cpu,
        memory_bytes=memory,
        **(known | more),
    )


def process(pid: int, command: str, of: str, runtime: Runtime | None = None) -> ProcessUsage:
    return ProcessUsage(
        pid=pid,
        started_at=1.0,
        workload=of,
        command=command,
        runtime=runtime,
        runtime_version=None,
        threads=1,
        cpu_cores=0.1,
        memory_bytes=10,
    )


def machine(*workloads: Workload, processes: tuple[ProcessUsage, ...] = ()) -> Report:
    return replace(report(), workloads=workloads, processes=processes)


API = "/system.slice/api.service"


API_NAME = ("system.slice", "unit", "api.service", "-")


def counted(
    *reports: tuple[str, Report], requests: Mapping[ContainerName, CpuMemory] | None = None
) -> ClusterFigures:
    levels = {API_NAME: UseLevels(0.1, 0.3, 5, 9)}
    return count_machine(reports, levels, requests or {}, now=1.0)


def test_units_and_containers_are_counted_once_however_deep_their_groups_are() -> None:
    found = counted(
        (
            "edge",
            machine(
                group("/", "root", 9.0, 900),
                group("/system.slice", "slice", 2.0, 200),
                group(API, "unit", 0.5, 50),
                group(API + "/worker", "group", 0.4, 40, processes=1),
                group("/system.slice/held", "group", 0.25, 5),
                group("/system.slice/held/api.service-2", "group", 0.25, 5, processes=1),
                group(
                    "/system.slice/docker-abc.scope", "container", 0.2, 20, container_id="c" * 64
                ),
                processes=(process(1, "api", API, "go"), process(2, "w", API + "/worker")),
            ),
        )
    )
    assert list(found.workloads) == [
        ("system.slice", "container", "c" * 12),
        ("system.slice", "group", "api.service-2"),
        ("system.slice", "unit", "api.service"),
    ]
    assert (found.total.cpu_cores, found.total.memory_bytes) == (0.95, 75)
    api = found.workloads["system.slice", "unit", "api.service"]
    assert api.levels is not None
    assert api.levels.worst == CpuMemory(300, 9)
    assert [(each.name, each.processes) for each in api.programs] == [("api", 1), ("w", 1)]
    assert api.labels["runtime"] == "go"


def test_the_same_unit_of_two_machines_is_one_workload() -> None:
    reports = [(name, machine(group(API, "unit", 0.5, 50))) for name in ("a", "b")]
    [unit] = counted(*reports).workloads.values()
    assert (unit.tally.cpu_cores, unit.tally.memory_bytes) == (1.0, 100)
    assert unit.levels is not None
    assert unit.levels.usual == CpuMemory(200, 10)
    assert "node" not in unit.labels


def test_what_manifests_request_of_a_unit_and_it_does_not_use_is_waste() -> None:
    found = counted(
        (
            "edge",
            machine(group(API, "unit", 0.5, 50), group("/system.slice/b.service", "unit", 1.0, 7)),
        ),
        requests={
            API_NAME: CpuMemory(2000, 4),
            ("system.slice", "unit", "b.service", "-"): CpuMemory(3000, 0),
            ("system.slice", "unit", "gone.service", "-"): CpuMemory(9000, 9),
        },
    )
    api = found.workloads["system.slice", "unit", "api.service"]
    assert api.tally.requests == CpuMemory(2000, 4)
    assert api.tally.cpu_cores == 0.5
    # It requests less memory than it uses: that is no waste.
    assert api.waste == CpuMemory(1700, 0)
    # How much the other one uses is not known for long enough.
    assert found.workloads["system.slice", "unit", "b.service"].waste is None
    assert found.waste == CpuMemory(1700, 0)
    assert found.total.requests == CpuMemory(5000, 4)


def test_of_two_machines_with_one_name_the_request_counts_once() -> None:
    one = machine(group(API, "unit", 0.5, 50))
    found = counted(("a", one), ("b", one), requests={API_NAME: CpuMemory(2000, 64)})
    api = found.workloads["system.slice", "unit", "api.service"]
    assert api.tally.requests == CpuMemory(2000, 64)
    assert api.tally.cpu_cores == 1.0
