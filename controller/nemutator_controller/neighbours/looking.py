"""Looks at nodes once a minute, and keeps what was found until the next look at each.

In a large cluster a look is at some of the nodes, as many as there is time for: an hour of a node has to be looked at
several times, and not in each minute. It rests after each part of the work: a thread that computes without a pause takes
every other turn of Python from whoever takes reports meanwhile.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.neighbours.calm_nodes import calm_findings
from nemutator_controller.neighbours.learning import NeighbourLearner
from nemutator_controller.neighbours.links import NodeFindings, assess
from nemutator_controller.neighbours.looked_nodes import LookedNode
from nemutator_controller.neighbours.model import Neighbourhood
from nemutator_controller.neighbours.node_window import Codes, decoded
from nemutator_controller.neighbours.ports import NeighbourPlaces
from nemutator_controller.neighbours.verdicts import ROLES, Verdicts

AT_ONCE = 10
"""Nodes whose windows are copied for one turn in a thread. What is copied and taken in holds the event loop up for
some hundredths of a second."""

SHARE = 0.2
"""Of the time, for which a look works."""

LONGEST_PART = 0.9
"""Of a minute, with its rests: nodes that it has no time for are the first of the next one."""


@dataclass(slots=True)
class NeighbourAssessments:
    """`run` is a task for a Supervisor."""

    learner: NeighbourLearner
    places: NeighbourPlaces
    verdicts: Verdicts
    in_thread: Callable[..., Awaitable[list[NodeFindings]]]
    process: Process
    latest: Neighbourhood = field(default_factory=Neighbourhood, init=False)
    _looked_at: dict[str, float] = field(default_factory=dict, init=False)

    async def run(self) -> None:
        clock, minute_s = self.process.clock, self.learner.minute_s
        rest_s = minute_s
        while True:
            await clock.sleep(rest_s)
            begun = clock.monotonic()
            await self.assess()
            left_s = begun + minute_s - clock.monotonic()
            rest_s = max(left_s, (1 - LONGEST_PART) * minute_s)

    async def assess(self) -> None:
        clock, windows = self.process.clock, self.learner.windows
        now, until = clock.now(), clock.monotonic() + LONGEST_PART * self.learner.minute_s
        self._looked_at = {node: self._looked_at.get(node, 0.0) for node in windows}
        nodes = sorted(windows, key=self._looked_at.__getitem__)
        looked, rest_s = 0, 0.0
        while looked < len(nodes) and (not looked or clock.monotonic() + rest_s < until):
            await clock.sleep(rest_s)
            begun = clock.monotonic()
            next_ones = nodes[looked : looked + AT_ONCE]
            self.learner.forget_ended(next_ones)
            some = {
                node: window.copied(now=now)
                for node in next_ones
                if (window := windows.get(node)) is not None
            }
            findings = await self.in_thread(_findings, [codes for _, codes in some.values()])
            self.verdicts.take_in(
                [
                    LookedNode(node, self.places.of_all(node, keys), one)
                    for (node, (keys, _)), one in zip(some.items(), findings, strict=True)
                ],
                now=now,
            )
            self._looked_at.update(dict.fromkeys(some, now))
            looked += AT_ONCE
            rest_s = (clock.monotonic() - begun) * (1 / SHARE - 1)
        self.verdicts.forget(windows)
        for found in self.verdicts.concluding(nodes_count=len(windows), now=now):
            if found is not None:
                self.latest = found
            await clock.sleep(0)
        self._count(nodes_left=max(0, len(nodes) - looked))

    def _count(self, *, nodes_left: int) -> None:
        meter, latest = self.process.meter, self.latest
        meter.gauge(names.NEIGHBOUR_NODES_LEFT, nodes_left)
        meter.gauge(names.NEIGHBOUR_LINKS, len(latest.links))
        for role in ROLES:
            for grade in range(1, 5):
                count = sum(one.grades[role].now == grade for one in latest.pods)
                meter.gauge(names.NEIGHBOUR_PODS, count, role=role, grade=str(grade))
        meter.gauge(names.NEIGHBOURS_UNTOLD, sum(latest.untold.values()))
        if self.verdicts.unplaced:
            meter.count(names.NEIGHBOUR_POINTS_DROPPED, self.verdicts.unplaced, reason="remembered")


def _findings(several: Sequence[Codes]) -> list[NodeFindings]:
    return [calm_findings(codes) or assess(decoded(codes)) for codes in several]
