"""Writes into the status of each SizingPolicy what has come of it; only when that changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.writing import Writer
from nemutator_controller.policies.conditions import NO_FORCES, Forces
from nemutator_controller.policies.status_applying import apply_status
from nemutator_controller.updating.conditions import due_conditions
from nemutator_controller.updating.objects import (
    SIZING_POLICIES,
    SizingPolicyObject,
    SizingStatus,
)
from nemutator_controller.updating.progress import PolicyProgress

CHECK_S = 15.0
RECOMMENDED_EVERY_S = 300.0
"""Advice moves a little all the time: its part of a status is not written more often than this."""


@dataclass(slots=True)
class SizingStatuses:
    informer: Informer[SizingPolicyObject]
    writer: Writer
    progress: Callable[[], Mapping[str, PolicyProgress]]
    faulty: Callable[[], Mapping[str, str]]
    process: Process
    forces: Callable[[], Forces] = lambda: NO_FORCES
    _recommended: dict[str, tuple[float, SizingStatus]] = field(default_factory=dict, init=False)
    """By name, what was written last and when."""

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(CHECK_S)
            await self.write()

    async def write(self) -> None:
        """Write what is out of date."""
        try:
            policies = list(self.informer.snapshot().objects.values())
        except NotSyncedError:
            return
        now, progress = self.process.clock.now(), self.progress()
        due = due_conditions(policies, progress, self.faulty(), now=now, forces=self.forces())
        there = {policy.metadata.name for policy in policies}
        self._recommended = {
            name: told for name, told in self._recommended.items() if name in there
        }
        conditions = {policy.metadata.name: found for policy, found in due}
        for policy in policies:
            name = policy.metadata.name
            status = self._with_advice(policy, progress.get(name))
            if name not in conditions and status == policy.status:
                continue
            await self._write(
                policy,
                msgspec.structs.replace(
                    status, conditions=conditions.get(name, policy.status.conditions)
                ),
            )

    def _with_advice(self, policy: SizingPolicyObject, done: PolicyProgress | None) -> SizingStatus:
        """Its status with the advice of now, or with that which it has, where this is due later."""
        moment, name = self.process.clock.monotonic(), policy.metadata.name
        last = self._recommended.get(name)
        if last is not None and moment - last[0] < RECOMMENDED_EVERY_S:
            # The watch may not have shown it yet.
            return msgspec.structs.replace(last[1], conditions=policy.status.conditions)
        if done is None:
            return policy.status
        found = SizingStatus(
            conditions=policy.status.conditions,
            workloads=tuple(done.workloads[key] for key in sorted(done.workloads)),
            workloads_left_off=len(done.workloads_left_off),
        )
        if found != policy.status:
            self._recommended[name] = moment, found
        return found

    async def _write(self, policy: SizingPolicyObject, status: SizingStatus) -> None:
        applied = await apply_status(
            self.writer,
            SIZING_POLICIES,
            policy.metadata,
            msgspec.to_builtins(status),
            counted=names.SIZING_STATUSES,
            process=self.process,
        )
        if not isinstance(applied, bytes):
            self._recommended.pop(policy.metadata.name, None)
