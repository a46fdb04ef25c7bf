"""Collects what can be profiled from the reports of the nodes, without keeping others waiting."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.cluster.pods import PodLookup
from nemutator_controller.profiles.api_requests import (
    LIST_REMEDY,
    InvalidProfileRequestError,
    TargetQuestion,
)
from nemutator_controller.profiles.offered_targets import (
    OfferedTarget,
    enumerated,
    named,
    offered,
)

MOST_NODES = 50
"""Nodes whose reports are unpacked for one question, a millisecond or two for each."""


@dataclass(frozen=True, slots=True)
class Offer:
    targets: list[OfferedTarget]
    nodes_left: int
    """Nodes that were not looked at, because there are too many."""


@dataclass(frozen=True, slots=True)
class TargetOffers:
    nodes: Callable[[], Sequence[ReportedNode]]
    """The nodes that report now."""
    pods: PodLookup

    async def offer(self, node: str | None = None) -> Offer:
        """What can be profiled on *node*, or on the busiest nodes."""
        nodes = [one for one in self.nodes() if node in (None, one.name)]
        nodes.sort(key=lambda one: -(one.sums.cpu_cores or 0.0))
        targets: list[OfferedTarget] = []
        for one in nodes[:MOST_NODES]:
            targets += offered(one, self.pods)
            await asyncio.sleep(0)
        return Offer(targets, max(0, len(nodes) - MOST_NODES))

    async def resolved(self, asked: TargetQuestion) -> TargetQuestion:
        """The one target that has the name *asked*, where it is asked for by a name.

        Raises InvalidProfileRequestError.
        """
        if asked.kind not in ("name", "unit"):
            return asked
        offer = await self.offer(asked.node)
        if offer.nodes_left:
            what = f"{offer.nodes_left + MOST_NODES} nodes report: too many to look for a name"
            raise InvalidProfileRequestError(what, "say on which node it is", status=409)
        found = named(offer.targets, asked.value, units=asked.kind == "unit")
        if not found:
            kind = "unit" if asked.kind == "unit" else "process, unit or pod"
            what, remedy = f"no {kind} is called {asked.value[:253]!r}", LIST_REMEDY
            if asked.value.isdecimal():
                remedy = f"write pid:{asked.value[:20]} for a process; {remedy}"
            raise InvalidProfileRequestError(what, remedy, status=404)
        if len(found) > 1:
            what = f"{asked.value[:253]!r} is the name of several: {enumerated(found)}"
            raise InvalidProfileRequestError(what, "name one of them in this way", status=409)
        [one] = found
        return TargetQuestion(one.kind, one.value, one.node)
