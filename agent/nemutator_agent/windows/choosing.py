"""Asks the brain which pods may be looked at: it knows what they declare, and nobody else does.

A pod of which the brain has not said that it may be read is not read; and what it has said holds for a
short time, so that a pod which opts out is left alone soon, and without the brain all are.
"""

import asyncio
import logging
from collections.abc import Collection
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.shipping.links import LinkError
from nemutator_common.windows import MOST_CANDIDATES

from nemutator_agent.windows.observed import ObservedProcess
from nemutator_agent.windows.ports import PodChoices

log = logging.getLogger(__name__)

EVERY_S = 15.0
HOLDS_S = 60.0
"""How long an answer counts when no other comes."""
CALL_S = 20.0


@dataclass(eq=False, slots=True)
class PodChoosing:
    """A `ChosenPods` of a cluster; `run` is a task for a Supervisor."""

    choices: PodChoices
    process: Process
    _asked: dict[str, None] = field(default_factory=dict, init=False)
    """The pods of processes since the last question."""
    _chosen: Collection[str] = field(default_factory=frozenset, init=False)
    _until: float = field(default=0.0, init=False)
    _failed: bool = field(default=False, init=False)

    def allow(self, process: ObservedProcess) -> bool:
        if process.pod_uid is None:
            # What runs on a node beside its pods belongs to the node.
            return False
        if len(self._asked) < MOST_CANDIDATES:
            self._asked[process.pod_uid] = None
        return process.pod_uid in self._chosen and self.process.clock.monotonic() < self._until

    async def run(self) -> None:
        while True:
            uids, self._asked = list(self._asked), {}
            if uids:
                await self._ask(uids)
            await self.process.clock.sleep(EVERY_S)

    async def _ask(self, uids: list[str]) -> None:
        begun = self.process.clock.monotonic()
        try:
            async with asyncio.timeout(CALL_S):
                self._chosen = frozenset(await self.choices.chosen(uids))
        except (LinkError, TimeoutError) as error:
            reason = error.reason if isinstance(error, LinkError) else "timeout"
            self.process.meter.count(names.UPLINK_FAILURES, stream="windows", reason=reason)
            log.log(
                logging.DEBUG if self._failed else logging.WARNING,
                "window_pods_unknown",
                {names.REASON: reason, names.ERROR: error},
            )
            self._failed = True
        else:
            # As of the question: the answer may have been on its way for long.
            self._until = begun + HOLDS_S
            self._failed = False
