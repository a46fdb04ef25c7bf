"""Lets the verdict on a workload stand on its pods for as long as it grows, and no longer."""

import logging
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.marks import NotMarkedError, Sentences
from nemutator_controller.ageing.ports import MarkablePods

log = logging.getLogger(__name__)

EVERY_S = 15.0

MOST_AT_ONCE = 50
"""Pods that are written to in one round: the others have to wait for the next."""

AGAIN_S = 600.0
"""How long a pod is left alone that could not be marked."""


@dataclass(frozen=True, slots=True)
class AgeingMarks:
    """`run` is a task for a Supervisor.

    Each round compares what should stand on pods with what does: marks that another life of the brain has
    left, or somebody else has made, are put right like any other.
    """

    findings: Findings
    pods: MarkablePods
    process: Process
    _sentences: Sentences = field(default_factory=Sentences, init=False)
    _failed_at: dict[str, float] = field(default_factory=dict, init=False)
    """By the uid of a pod, on the monotonic clock."""

    async def run(self) -> None:
        while True:
            await self._round()
            await self.process.clock.sleep(EVERY_S)

    async def _round(self) -> None:
        now = self.process.clock.monotonic()
        for uid in [uid for uid, at in self._failed_at.items() if now - at >= AGAIN_S]:
            del self._failed_at[uid]
        wanted = self._sentences.of(self.findings.growing())
        standing = self.pods.standing(wanted)
        differing = [
            (uid, wanted.get(uid))
            for uid, note in standing.items()
            if note != wanted.get(uid) and uid not in self._failed_at
        ]
        for uid, note in differing[:MOST_AT_ONCE]:
            await self._mark(uid, note)

    async def _mark(self, uid: str, note: str | None) -> None:
        try:
            await self.pods.mark(uid, note)
        except NotMarkedError as error:
            log.warning("pod_not_marked", {names.OBJECT: uid, names.ERROR: error})
            self._failed_at[uid] = self.process.clock.monotonic()
