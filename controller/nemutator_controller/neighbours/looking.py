"""Looks at all nodes once a minute, and keeps what was found until the next look."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.neighbours.learning import NeighbourLearner
from nemutator_controller.neighbours.links import NodeFindings, assess
from nemutator_controller.neighbours.model import Neighbourhood
from nemutator_controller.neighbours.node_window import MINUTE_S, Values
from nemutator_controller.neighbours.ports import NeighbourPlaces
from nemutator_controller.neighbours.verdicts import ROLES, LookedNode, Verdicts

AT_ONCE = 50
"""Nodes whose windows are copied for one turn in a thread: 2 MB, and some hundredths of a second."""


@dataclass(slots=True)
class NeighbourAssessments:
    """`run` is a task for a Supervisor."""

    learner: NeighbourLearner
    places: NeighbourPlaces
    verdicts: Verdicts
    in_thread: Callable[..., Awaitable[list[NodeFindings]]]
    process: Process
    latest: Neighbourhood = field(default_factory=Neighbourhood, init=False)

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(MINUTE_S)
            await self.assess()

    async def assess(self) -> None:
        now = self.process.clock.now()
        self.learner.forget_ended()
        nodes = list(self.learner.windows)
        looked: list[LookedNode] = []
        for begin in range(0, len(nodes), AT_ONCE):
            some = [
                (node, window.view(now=now))
                for node in nodes[begin : begin + AT_ONCE]
                if (window := self.learner.windows.get(node)) is not None
            ]
            assessments = await self.in_thread(_findings, [values for _, (_, values) in some])
            looked += [
                LookedNode([self.places.of(node, key) for key in keys], one)
                for (node, (keys, _)), one in zip(some, assessments, strict=True)
            ]
        self.latest = self.verdicts.conclude(looked, nodes_count=len(nodes), now=now)
        self._count()

    def _count(self) -> None:
        meter, latest = self.process.meter, self.latest
        meter.gauge(names.NEIGHBOUR_LINKS, len(latest.links))
        for role in ROLES:
            for grade in range(1, 5):
                count = sum(one.grades[role].now == grade for one in latest.pods)
                meter.gauge(names.NEIGHBOUR_PODS, count, role=role, grade=str(grade))
        meter.gauge(names.NEIGHBOURS_UNTOLD, sum(latest.untold.values()))
        if self.verdicts.unplaced:
            meter.count(names.NEIGHBOUR_POINTS_DROPPED, self.verdicts.unplaced, reason="remembered")


def _findings(several: Sequence[Values]) -> list[NodeFindings]:
    return [assess(values) for values in several]
