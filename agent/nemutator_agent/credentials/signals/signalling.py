"""Sends a pod's signal after its secrets have changed: one for all changes of one moment."""

import asyncio
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.on_rotate import ContainerSignal
from nemutator_common.process import Process

from nemutator_agent.credentials.audit import Audit, subject_of
from nemutator_agent.credentials.ports import SettlesChanges, SignalsContainers
from nemutator_agent.credentials.signals.outcomes import REMEDIES, SignalOutcome
from nemutator_agent.publications import PublishedPod

SETTLE_S = 1.0
"""For what changes together: a rotation of several paths is seen path by path."""

APART_S = 10.0
"""Between two signals to one pod, which can change its own secrets as often as it likes."""


@dataclass(eq=False, slots=True)
class RotationSignals:
    pod: PublishedPod
    wanted: ContainerSignal | None
    containers: SignalsContainers
    process: Process
    _: KW_ONLY
    audit: Audit
    changes: SettlesChanges
    _due: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def due(self) -> None:
        """A secret of the pod has changed, and its files have the new value."""
        self._due.set()

    def due_if_changed(self) -> None:
        if self.changes.is_unsettled:
            self.due()

    async def run(self) -> None:
        clock = self.process.clock
        not_before = clock.monotonic()
        while True:
            await self._due.wait()
            await clock.sleep(max(SETTLE_S, not_before - clock.monotonic()))
            self._due.clear()
            if self.wanted is not None:
                settle = self.changes.settling()
                await self._send(self.wanted)
                # A run that is killed before this leaves it to the next one.
                settle()
            not_before = clock.monotonic() + APART_S

    async def _send(self, wanted: ContainerSignal) -> None:
        outcome = await self.containers.send(self.pod.uid, wanted)
        is_sent = outcome is SignalOutcome.SENT
        self.process.meter.count(names.ROTATION_SIGNALS, result=outcome)
        self.audit.record(
            subject_of(self.pod),
            "signal",
            "granted" if is_sent else "failed",
            reason=f"{wanted}" if is_sent else f"{wanted}: {outcome}; {REMEDIES[outcome]}",
        )
