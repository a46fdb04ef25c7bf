"""Measures how long pods take until they are ready, of those whose creation was seen."""

import logging
from collections import OrderedDict
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.database.saving import save_repeatedly
from nemutator_controller.seasons.ports import StartingPods, StartTimeStore
from nemutator_controller.seasons.records import PodStep
from nemutator_controller.seasons.start_times import StartTimes

log = logging.getLogger(__name__)

SAVED_EVERY_S = 300.0
MOST_STARTING = 20_000
"""Pods that are awaited: of one more the oldest is not, and is not measured."""


@dataclass(slots=True)
class StartMeasuring:
    """`run` and `run_saving` are tasks for a Supervisor."""

    pods: StartingPods
    times: StartTimes
    store: StartTimeStore
    process: Process
    _since: OrderedDict[str, float] = field(default_factory=OrderedDict, init=False)
    """When each pod that is not ready yet came to be, by its uid."""

    async def restore(self) -> None:
        """Raises `StoreUnavailableError`."""
        self.times.restore(await self.store.load())

    async def run(self) -> None:
        async for step in self.pods.steps():
            self.take(step)

    def take(self, step: PodStep) -> None:
        now = self.process.clock.monotonic()
        if step.is_new and not step.is_ready:
            self._since[step.uid] = now
            if len(self._since) > MOST_STARTING:
                self._since.popitem(last=False)
        elif step.is_ready or step.is_gone:
            since = self._since.pop(step.uid, None)
            if since is not None and step.is_ready:
                self.times.add(step.scope, now - since)

    async def run_saving(self) -> None:
        await save_repeatedly(self.save, every_s=SAVED_EVERY_S, clock=self.process.clock)

    async def save(self) -> None:
        kept, gone = self.times.take_changed()
        try:
            await self.store.save(kept, gone)
        except StoreUnavailableError as failure:
            self.times.give_back(kept, gone)
            log.warning("start_times_not_saved", {names.REASON: failure.reason})
