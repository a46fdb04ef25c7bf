"""Writes into the status of each policy whether it is followed, for the person who has just applied it.

A status is written only when it changes.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec
from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process

from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.subscribing import Resync
from nemutator_controller.kube.writing import Writer
from nemutator_controller.policies.conditions import NO_FORCES, Forces, due
from nemutator_controller.policies.objects import MUTATION_POLICIES, PolicyCondition, PolicyObject
from nemutator_controller.policies.status_applying import apply_status

WAITING = 1_000
"""The most changes that may wait; when there are more, all policies are read again."""

_BACKOFF = Backoff(first_s=1.0, longest_s=60.0)


@dataclass(slots=True)
class PolicyStatusWriter:
    """`follow` and `write` are its tasks, beside the informer's own."""

    informer: Informer[PolicyObject]
    writer: Writer
    process: Process
    forces: Callable[[], Forces] = lambda: NO_FORCES
    """Of the policies whose `when` names seasons."""
    _policies: dict[str, PolicyObject] = field(default_factory=dict, init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def follow(self) -> None:
        with self.informer.subscribe("statuses", capacity=WAITING) as changes:
            async for change in changes:
                if isinstance(change, Resync):
                    everything = change.snapshot.objects.values()
                    self._policies = {each.metadata.name: each for each in everything}
                elif change.after is not None:
                    self._policies[change.after.metadata.name] = change.after
                elif change.before is not None:
                    self._policies.pop(change.before.metadata.name, None)
                self._changed.set()

    def wake(self) -> None:
        """Something else has changed that statuses say."""
        self._changed.set()

    async def write(self) -> None:
        failures = 0
        while True:
            await self._changed.wait()
            self._changed.clear()
            if await self._write():
                failures = 0
                continue
            failures += 1
            await self.process.clock.sleep(_BACKOFF.delay_s(failures, roll=1.0))
            self._changed.set()

    async def _write(self) -> bool:
        """Write what is due; False when some of it could not be written."""
        done = True
        now, forces = self.process.clock.now(), self.forces()
        for policy, conditions in due(self._policies.values(), now=now, forces=forces):
            applied = await apply_status(
                self.writer,
                MUTATION_POLICIES,
                policy.metadata,
                {"conditions": [msgspec.to_builtins(one) for one in conditions]},
                counted=names.POLICY_STATUSES,
                process=self.process,
            )
            if isinstance(applied, bytes):
                self._note(msgspec.json.decode(applied, type=PolicyObject), conditions)
            elif applied == "failed":
                done = False
        return done

    def _note(self, written: PolicyObject, conditions: Sequence[PolicyCondition]) -> None:
        """Note a status that was written, so that it is not written again before the watch shows it."""
        name = written.metadata.name
        known = self._policies.get(name)
        if known is None or known.metadata.generation != written.metadata.generation:
            return
        if tuple(written.status.conditions) == tuple(conditions):
            self._policies[name] = written
