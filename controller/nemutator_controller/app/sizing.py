"""Sizing, put together: advice from what containers used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nemutator_common import names
from nemutator_common.clocks import Clock

from nemutator_controller.admission.snapshots import SnapshotAdvisor
from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.model import AgedWorkload, AgeingFinding
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.manifest_requests import requests_of_files
from nemutator_controller.app.parts import Part, Task, TaskPhase, nothing
from nemutator_controller.app.scaled_workloads import (
    FlagsOfTemplates,
    ImagesOfTemplates,
    ScaledWorkloads,
)
from nemutator_controller.journal.stand_ins import StandIn, StandInError, StandIns, stand_ins_of
from nemutator_controller.mutations.advisor import (
    Advisor,
    Name,
    NoAdvice,
    RecommendedAmount,
    Side,
    WithoutAdvice,
    WorkloadRef,
)
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.sizing.documents import advice_list, for_admission
from nemutator_controller.sizing.endpoint import NO_FLAGS, NO_IMAGES, NOWHERE_ELSE, AdviceApi
from nemutator_controller.sizing.keys import PROGRAM, ContainerKey
from nemutator_controller.sizing.kill_noting import KillNoting
from nemutator_controller.sizing.known_usage import Knobs
from nemutator_controller.sizing.measuring import AdviceMeasuring
from nemutator_controller.sizing.ports import GrowingMemory, KnownHourly, Requests
from nemutator_controller.sizing.saving import UsageSaver
from nemutator_controller.sizing.sql import SqlUsages
from nemutator_controller.sizing.usages import Usages

GROWS = "this memory grows: see ageing"

_LONGEST_COMM = 15
"""The kernel cuts the name of a process here."""


@dataclass(slots=True)
class LeakingMemory:
    """The `GrowingMemory` of sizing, by what ageing has found. It is asked once for each container."""

    findings: Findings
    _growing: Sequence[AgeingFinding] = field(default=(), init=False)
    _leaking: frozenset[tuple[str, ...]] = field(default=frozenset(), init=False)
    """Containers and, where no group counts, programs that leak."""

    def of(self, key: ContainerKey) -> str | None:
        growing = self.findings.growing()
        if growing is not self._growing:
            self._growing = growing
            leaks = [one.workload for one in growing if one.verdict == "leak"]
            self._leaking = frozenset(name for one in leaks for name in _names(one))
        if key.owner_kind == PROGRAM:
            return GROWS if (key.namespace, key.owner) in self._leaking else None
        return GROWS if (key.namespace, key.owner, key.container) in self._leaking else None


def _names(aged: AgedWorkload) -> tuple[tuple[str, ...], tuple[str, ...]]:
    # Without a group that counts, the kernel's name for the process, which is cut, is all.
    program = aged.program[:_LONGEST_COMM]
    return (aged.namespace, aged.owner, aged.container), (aged.namespace, program)


def advice_knobs(settings: BrainSettings) -> Knobs:
    return Knobs(
        cpu_percentile=settings.advice_cpu_percentile,
        memory_buffer=settings.advice_memory_buffer,
        least_cpu_millis=settings.advice_least_cpu_millis,
        least_memory_mb=settings.advice_least_memory_mb,
        window_days=settings.advice_window_days,
    )


def requests_here(context: BrainContext, usages: Usages) -> Requests:
    if context.cluster is not None:
        return context.cluster.requests
    folder = context.process.directory.objects
    return requests_of_files(folder, lambda wanted: keys_of(usages, wanted))


def sizing_part(
    context: BrainContext, usages: Usages, findings: Findings, hourly: KnownHourly
) -> Part:
    saver = UsageSaver(usages, SqlUsages(context.database), process=context.process)
    requests = requests_here(context, usages)
    elsewhere = ScaledWorkloads(context.cluster) if context.cluster else NOWHERE_ELSE
    flags = FlagsOfTemplates(context.cluster) if context.cluster else NO_FLAGS
    growing = LeakingMemory(findings)
    images = ImagesOfTemplates(context.cluster) if context.cluster else NO_IMAGES
    advice = AdviceApi(usages, requests, growing, context.process, elsewhere, flags, images, hourly)
    measuring = AdviceMeasuring(usages, requests, growing, context.process)
    measured = Task(TaskPhase.WORK, "measure advice", measuring.run, alone=True)
    # Where several brains share the rows, the one that learns is not always the same.
    killed = None if context.cluster is None or context.shared else context.cluster.killed
    noting = [] if killed is None else [KillNoting(usages, killed, context.process)]
    saved = [] if context.shared else [Task(TaskPhase.SAVE, "usages", saver.run)]
    return Part(
        routes=advice.routes(),
        uplink=advice.uplink_routes(),
        # Where several brains share the rows, the one that learns saves them (nodes.py).
        restore=nothing if context.shared else saver.restore,
        tasks=[
            *saved,
            measured,
            *(Task(TaskPhase.WORK, "note kills for memory", one.run) for one in noting),
        ],
    )


NOT_SAID = WithoutAdvice(
    f"the manifest does not say what it stands for: annotate it with {names.STANDS_FOR}"
)


@dataclass(frozen=True, slots=True)
class LocalAdvice:
    usages: Usages
    growing: GrowingMemory
    clock: Clock

    def of(self, document: Mapping[str, Any]) -> Advisor:
        """An `Advisor` for the manifest *document*."""
        try:
            found = stand_ins_of(document)
        except StandInError as error:
            return WithoutAdvice(str(error))
        return NOT_SAID if found is None else StandInAdvisor(self, found)

    def keys(self, wanted: StandIn) -> list[ContainerKey]:
        return keys_of(self.usages, wanted)


def keys_of(usages: Usages, wanted: StandIn) -> list[ContainerKey]:
    return [
        key
        for key in usages.keys()  # noqa: SIM118 - it is no mapping
        if (key.owner_kind, key.owner) == (wanted.kind, wanted.name)
        and wanted.namespace in ("", key.namespace)
    ]


@dataclass(frozen=True, slots=True)
class StandInAdvisor:
    """An `Advisor` from what runs on this machine."""

    advice: LocalAdvice
    stand_ins: StandIns

    def advise(
        self, workload: WorkloadRef, container: str, side: Side, name: Name
    ) -> RecommendedAmount | NoAdvice:
        wanted = self.stand_ins.of(container)
        if wanted is None:
            return NoAdvice(f"the manifest does not say what its container {container} stands for")
        keys = self.advice.keys(wanted)
        if not keys:
            return NoAdvice(f"nothing was reported of the {wanted.kind} {wanted.name} yet")
        if len(keys) > 1:
            spaces = ", ".join(key.namespace for key in keys[:5])
            return NoAdvice(f"there are several {wanted.kind}s {wanted.name}: in {spaces}")
        now = self.advice.clock.now()
        seen = self.advice.usages.columns(keys, now=now)
        [found] = advice_list(seen, {}, self.advice.growing, now=now)
        items = {(workload, container): for_admission(found)}
        return SnapshotAdvisor(items).advise(workload, container, side, name)
