"""A machine that is in no cluster, counted in the same shape: its units and containers, and their programs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from nemutator_common.wire import ProcessUsage, Report, Workload

from nemutator_controller.cluster.labels import namespace_of
from nemutator_controller.inventory.amounts import NOTHING, CpuMemory
from nemutator_controller.inventory.counted_pods import NO_PODS
from nemutator_controller.inventory.figures import Levels, less, namespace_figures
from nemutator_controller.inventory.model import (
    ClusterFigures,
    ContainerName,
    LevelSums,
    ProgramUse,
    Tally,
    WorkloadFigures,
    WorkloadKey,
    added,
    level_sums,
)

ONE = "-"
"""The container of what has none."""

SHORT_ID = 12

_PARTS = frozenset({"root", "slice"})
"""Kinds of groups that only hold others."""


def count_machine(
    reports: Iterable[tuple[str, Report]],
    levels: Levels,
    requests: Mapping[ContainerName, CpuMemory],
    *,
    now: float,
) -> ClusterFigures:
    """*reports*: the last one of each machine, by its name."""
    found: dict[WorkloadKey, WorkloadFigures] = {}
    for node, report in reports:
        workloads_here = tuple(_outermost(report.workloads))
        processes = _inside({each.path for each in workloads_here}, report.processes)
        for workload in workloads_here:
            figures = _figures(node, workload, processes[workload.path], levels)
            known = found.get(figures.key)
            found[figures.key] = figures if known is None else _together(known, figures)
    workloads = {
        key: _requesting(found[key], requests.get((*key, ONE), NOTHING)) for key in sorted(found)
    }
    namespaces = namespace_figures(workloads.values())
    total, waste = Tally(), NOTHING
    for each in namespaces.values():
        total.add(each.tally)
        waste += each.waste
    return ClusterFigures(
        taken_at=now, workloads=workloads, namespaces=namespaces, total=total, waste=waste
    )


def _requesting(figures: WorkloadFigures, requests: CpuMemory) -> WorkloadFigures:
    if requests == NOTHING:
        return figures
    tally = Tally(requests=requests)
    tally.add(figures.tally)
    waste = None if figures.levels is None else less(requests, figures.levels.worst)
    return replace(figures, tally=tally, waste=waste)


def _outermost(workloads: Iterable[Workload]) -> Iterator[Workload]:
    """Units, containers and the like that are in no other: what they use adds up."""
    above = ""
    for each in sorted(workloads, key=lambda one: (one.path + "/").split("/")):
        # A group without processes of its own only holds others, as a slice does.
        holds = each.kind in _PARTS or (each.kind == "group" and not each.processes)
        if holds or (above and each.path.startswith(above)):
            continue
        above = each.path + "/"
        yield each


def _figures(
    node: str, workload: Workload, processes: Sequence[ProcessUsage], levels: Levels
) -> WorkloadFigures:
    key = _key(workload)
    runtimes = {each.runtime for each in processes if each.runtime is not None}
    labels = {"kind": workload.kind, "name": workload.name, "namespace": key[0], "node": node}
    if len(runtimes) == 1:
        labels["runtime"] = str(runtimes.pop())
    known = levels.get((*key, ONE))
    return WorkloadFigures(
        key=key,
        workload=None,
        tally=Tally(cpu_cores=workload.cpu_cores, memory_bytes=workload.memory_bytes),
        pods=NO_PODS,
        wanted=None,
        ready=0,
        levels=None if known is None else level_sums([known]),
        waste=None,
        labels=labels,
        programs=_by_name(processes),
    )


def _key(workload: Workload) -> WorkloadKey:
    """The name under which sizing knows it, too."""
    namespace = namespace_of(workload.path)
    if workload.container_id is not None:
        return namespace, "container", workload.container_id[:SHORT_ID]
    kind = "group" if workload.kind in ("group", "pod") else "unit"
    return namespace, kind, workload.path.rpartition("/")[2]


def _inside(
    paths: Iterable[str], processes: Iterable[ProcessUsage]
) -> Mapping[str, Sequence[ProcessUsage]]:
    """By the one of *paths* in which each is; those that are in none are left out."""
    found: dict[str, list[ProcessUsage]] = {path: [] for path in paths}
    for each in processes:
        at = each.workload
        while at and at not in found:
            at = at.rpartition("/")[0]
        if at:
            found[at].append(each)
    return found


def _by_name(processes: Iterable[ProcessUsage]) -> tuple[ProgramUse, ...]:
    several: dict[tuple[str, str | None], list[ProcessUsage]] = defaultdict(list)
    for each in processes:
        several[each.command, each.runtime].append(each)
    return tuple(
        _program(name, runtime, those)
        for (name, runtime), those in sorted(several.items(), key=lambda item: str(item[0]))
    )


def _program(name: str, runtime: str | None, processes: list[ProcessUsage]) -> ProgramUse:
    cores: float | None = None
    for each in processes:
        cores = added(cores, each.cpu_cores)
    memory = sum(each.memory_bytes for each in processes)
    return ProgramUse(
        name=name,
        runtime=runtime,
        processes=len(processes),
        cpu_cores=cores,
        memory_bytes=memory,
    )


def _together(one: WorkloadFigures, other: WorkloadFigures) -> WorkloadFigures:
    """Groups of one name in one namespace, be it on several machines."""
    tally = Tally()
    tally.add(one.tally)
    tally.add(other.tally)
    levels: LevelSums | None = None
    if one.levels is not None and other.levels is not None:
        levels = LevelSums(
            one.levels.usual + other.levels.usual, one.levels.worst + other.levels.worst
        )
    return WorkloadFigures(
        key=one.key,
        workload=None,
        tally=tally,
        pods=NO_PODS,
        wanted=None,
        ready=0,
        levels=levels,
        waste=None,
        labels={name: text for name, text in one.labels.items() if other.labels.get(name) == text},
        programs=(*one.programs, *other.programs),
    )
