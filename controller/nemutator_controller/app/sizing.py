"""Sizing, put together: advice from what containers used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.model import AgedWorkload, AgeingFinding
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.sizing.endpoint import AdviceApi
from nemutator_controller.sizing.keys import PROGRAM, ContainerKey, Requested
from nemutator_controller.sizing.saving import UsageSaver
from nemutator_controller.sizing.sql import SqlUsages
from nemutator_controller.sizing.usages import Usages

GROWS = "this memory grows: see ageing"

_LONGEST_COMM = 15
"""The kernel cuts the name of a process here."""


class NoRequests:
    """Off clusters nobody requests anything. A `Requests`."""

    async def now(self) -> Mapping[ContainerKey, Requested]:
        return {}


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


def sizing_part(context: BrainContext, usages: Usages, findings: Findings) -> Part:
    saver = UsageSaver(usages, SqlUsages(context.database), process=context.process)
    requests = context.cluster.requests if context.cluster else NoRequests()
    advice = AdviceApi(usages, requests, LeakingMemory(findings), process=context.process)
    return Part(
        routes=advice.routes(),
        uplink=advice.uplink_routes(),
        restore=saver.restore,
        tasks=[Task(TaskPhase.SAVE, "usages", saver.run)],
    )
