"""Writes into the status of each SeasonPolicy whether it is in force, and why; only when that changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.writing import Writer
from nemutator_controller.policies.conditions import IN_FORCE, Forces, force_condition
from nemutator_controller.policies.objects import READY, PolicyCondition
from nemutator_controller.policies.season_objects import SEASON_POLICIES, SeasonPolicyObject
from nemutator_controller.policies.status_applying import apply_status

CHECK_S = 3.0


@dataclass(frozen=True, slots=True)
class SeasonStatuses:
    informer: Informer[SeasonPolicyObject]
    writer: Writer
    forces: Callable[[], Forces]
    faulty: Callable[[], Mapping[str, str]]
    process: Process

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
        forces, faulty = self.forces(), self.faulty()
        for policy in policies:
            name = policy.metadata.name
            wanted = self._conditions(policy, forces, faulty.get(name))
            said = {one.type: one for one in policy.status.conditions}
            if said == {one.type: one for one in wanted}:
                continue
            await apply_status(
                self.writer,
                SEASON_POLICIES,
                policy.metadata,
                {"conditions": [msgspec.to_builtins(one) for one in wanted]},
                counted=names.SEASON_STATUSES,
                process=self.process,
            )

    def _conditions(
        self, policy: SeasonPolicyObject, forces: Forces, fault: str | None
    ) -> tuple[PolicyCondition, ...]:
        before = {one.type: one for one in policy.status.conditions}
        now = self.process.clock.now()
        moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        status = "True" if fault is None else "False"
        said = before.get(READY)
        ready = PolicyCondition(
            type=READY,
            status=status,
            reason="Sound" if fault is None else "Faulty",
            message=(fault or "")[:4096],
            observed_generation=policy.metadata.generation,
            last_transition_time=said.last_transition_time
            if said is not None and said.status == status
            else moment,
        )
        force = forces.get(policy.metadata.name)
        if force is None:
            return (ready,)
        generation = policy.metadata.generation
        return ready, force_condition(force, before.get(IN_FORCE), generation, moment)
