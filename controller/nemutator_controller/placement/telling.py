"""Tells admission who exchanges much with whom, from the same snapshots as scores are made of."""

import hashlib
from dataclasses import dataclass, field

import msgspec
from nemutator_common import names
from nemutator_common.admission_snapshots import TalkerSnapshot
from nemutator_common.process import Process

from nemutator_controller.placement.refreshing import KeptNodesSnapshot
from nemutator_controller.placement.talker_grades import TalkerGrades

ROUND_S = 60.0


@dataclass(slots=True)
class TalkerTelling:
    """`run` is a task for a Supervisor. While nodes are not known, what was told stays."""

    snapshot: KeptNodesSnapshot
    process: Process
    round_s: float = ROUND_S
    told: TalkerSnapshot = field(default=TalkerSnapshot(()), init=False)
    tag: str = field(default="none", init=False)
    _grades: TalkerGrades = field(default_factory=TalkerGrades, init=False)

    async def run(self) -> None:
        while True:
            await self.round()
            await self.process.clock.sleep(self.round_s)

    async def round(self) -> None:
        if not len(self._grades) and not self.snapshot.source.has_flows():
            # Where agents do not look at flows there is nothing to tell, and the whole cluster would be counted for it.
            self._count()
            return
        found = await self.snapshot.fresh()
        if found is None:
            return
        self._grades.see(found)
        self.told = self._grades.told(found)
        document = msgspec.json.encode(self.told)
        self.tag = hashlib.blake2b(document, digest_size=16).hexdigest()
        self._count()

    def _count(self) -> None:
        meter = self.process.meter
        meter.gauge(names.TALKING_WORKLOADS, len(self.told.items), state="told")
        meter.gauge(names.TALKING_WORKLOADS, self._grades.left_off, state="left_off")
