"""Writes into the status of each SizingPolicy what has come of it; only when that changes."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import ConflictError, KubeError, NotFoundError
from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.writing import OnlyIf, Writer
from nemutator_controller.policies.conditions import NO_FORCES, Forces
from nemutator_controller.updating.conditions import due_conditions
from nemutator_controller.updating.objects import SIZING_POLICIES, SizingPolicyObject
from nemutator_controller.updating.progress import PolicyProgress

log = logging.getLogger(__name__)

CHECK_S = 15.0


@dataclass(frozen=True, slots=True)
class SizingStatuses:
    informer: Informer[SizingPolicyObject]
    writer: Writer
    progress: Callable[[], Mapping[str, PolicyProgress]]
    faulty: Callable[[], Mapping[str, str]]
    process: Process
    forces: Callable[[], Forces] = lambda: NO_FORCES

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(CHECK_S)
            await self.write()

    async def write(self) -> None:
        """Write what is out of date."""
        try:
            policies = self.informer.snapshot().objects.values()
        except NotSyncedError:
            return
        now = self.process.clock.now()
        due = due_conditions(
            policies, self.progress(), self.faulty(), now=now, forces=self.forces()
        )
        for policy, conditions in due:
            name = policy.metadata.name
            try:
                await self.writer.apply(
                    SIZING_POLICIES,
                    "",
                    name,
                    {"status": {"conditions": [msgspec.to_builtins(each) for each in conditions]}},
                    only_if=OnlyIf(uid=policy.metadata.uid),
                    subresource="status",
                    force=True,
                )
            except (NotFoundError, ConflictError):
                # It is gone, or another one has its name: the watch will show it.
                continue
            except (KubeError, OverBudgetError) as error:
                self.process.meter.count(names.SIZING_STATUSES, result="failed")
                log.warning("policy_status_not_written", {names.OBJECT: name, names.ERROR: error})
            else:
                self.process.meter.count(names.SIZING_STATUSES, result="written")
