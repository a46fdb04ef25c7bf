from dataclasses import replace
from typing import Any

from nemutator_common.wire import Kind, Pressures, ProcessUsage, Report, Runtime, Workload
from nemutator_controller.inventory.amounts import CpuMemory
from nemutator_controller.inventory.machine_figures import count_machine
from nemutator_controller.inventory.model import ClusterFigures, UseLevels

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


def counted(*reports: tuple[str, Report]) -> ClusterFigures:
    levels = {("system.slice", "unit", "api.service", "-"): UseLevels(0.1, 0.3, 5, 9)}
    return count_machine(reports, levels, now=1.0)


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
