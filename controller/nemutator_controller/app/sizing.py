"""Sizing, put together: advice from what containers used."""

from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.model import AgeingFinding
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


@dataclass(frozen=True, slots=True)
class LeakingMemory:
    """The `GrowingMemory` of sizing, by what ageing has found."""

    findings: Findings

    def of(self, key: ContainerKey) -> str | None:
        return GROWS if any(_is_of(one, key) for one in self.findings.leaks()) else None


def _is_of(finding: AgeingFinding, key: ContainerKey) -> bool:
    aged = finding.workload
    if key.owner_kind == PROGRAM:
        # There is no group that counts: the kernel's name for the process, which is cut, is all.
        return (aged.namespace, aged.program[:_LONGEST_COMM]) == (key.namespace, key.owner)
    return (aged.namespace, aged.owner, aged.container) == (key.namespace, key.owner, key.container)


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
