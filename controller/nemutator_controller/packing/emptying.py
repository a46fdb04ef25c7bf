"""Empties nodes one after another while a season wants pods packed, and gives them back when it does not.

A node is marked first, so that pods prefer others, and no pod is kept from it: what needs it may have it. Then its pods
are evicted within the budgets of evictions, and placed by the scheduler. Nobody deletes a node here.
"""

import logging
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.packing.model import (
    EmptiedNode,
    NodePlan,
    PackingUnknownError,
    PackNode,
)
from nemutator_controller.packing.plans import candidates, kept_node, plan_of
from nemutator_controller.packing.ports import PackedNodes, PackingEvictions, PackingSeason

log = logging.getLogger(__name__)

EVERY_S = 30.0
READ_IN_A_ROUND = 5
"""Nodes in one round: each is a list of pods from the API server."""
MOST_ASKED = 3
"""Times that the pods of one node are evicted: whoever comes back each time is wanted there."""
AGAIN_S = 1_800.0
"""How long a node is left alone that could not be emptied."""
AT_ONCE = 1
"""Nodes that are being emptied; those that are empty do not count."""
LEAST_LEFT = 2
"""Nodes that are never emptied, however little runs on them."""

CAME_BACK = "its pods came back or could not go, {} times"


@dataclass(slots=True)
class NodeEmptying:
    season: PackingSeason
    nodes: PackedNodes
    evictions: PackingEvictions
    process: Process
    _: KW_ONLY
    most: int
    """Nodes that may be empty or emptied at once; 0: none."""
    every_s: float = EVERY_S
    chosen: dict[str, EmptiedNode] = field(default_factory=dict, init=False)
    policy: str | None = field(default=None, init=False)
    _is_resumed: bool = field(default=False, init=False)
    _left_until: dict[str, float] = field(default_factory=dict, init=False)

    async def run(self) -> None:
        while True:
            try:
                await self.round()
            except StoreUnavailableError as failure:
                log.warning("packing_waits", {names.REASON: failure.reason})
            await self.process.clock.sleep(self.every_s)

    async def plan(self, most: int) -> list[NodePlan] | None:
        """What could be emptied now, the emptiest first, and why the others not; None: nodes are not known."""
        nodes = await self.nodes.now()
        if nodes is None:
            return None
        found: list[NodePlan] = []
        worth = candidates(nodes)[:most]
        for node in worth:
            found.append(await self._plan(node, nodes))
        looked = {node.name for node in worth}
        left = sorted((one for one in nodes if one.name not in looked), key=lambda one: one.share)
        return [*found, *map(kept_node, left[: most - len(found)])]

    async def round(self) -> None:
        self.policy = self.season.packs_by() if self.most else ""
        if self.policy is None:
            return
        if not self.policy:
            for name in list(self.chosen):
                await self._give_up(name, "")
            return
        nodes = await self.nodes.now()
        if nodes is None:
            return
        by_name = {node.name: node for node in nodes}
        self._adopt(nodes)
        for name in list(self.chosen):
            if name not in by_name:
                # It is gone, as it was meant to be.
                del self.chosen[name]
            else:
                await self._go_on(by_name[name], nodes)
        await self._choose(nodes)
        for state in ("emptying", "removable"):
            count = sum(one.state == state for one in self.chosen.values())
            self.process.meter.gauge(names.PACKED_NODES, count, state=state)

    def _adopt(self, nodes: Sequence[PackNode]) -> None:
        """Go on, once, with what another life of the brain has marked: later marks are those of this one, and stand for
        some seconds after a node was given back."""
        for node in () if self._is_resumed else nodes:
            if node.is_marked and node.name not in self.chosen and len(self.chosen) < self.most:
                now = self.process.clock.now()
                self.chosen[node.name] = EmptiedNode(node=node.name, since=now)
        self._is_resumed = True

    async def _plan(self, node: PackNode, nodes: Sequence[PackNode]) -> NodePlan:
        try:
            contents = await self.nodes.contents_of(node.name)
        except PackingUnknownError as error:
            return NodePlan(node=node.name, share=node.share, why_not=str(error), is_unknown=True)
        others = [each for each in nodes if each.name != node.name]
        ceiling = self.season.ceiling()
        return plan_of(node, contents, others, chosen=self.chosen, ceiling=ceiling)

    async def _go_on(self, node: PackNode, nodes: Sequence[PackNode]) -> None:
        one = self.chosen[node.name]
        planned = await self._plan(node, nodes)
        if planned.is_unknown:
            return
        if planned.why_not or node.kept:
            await self._give_up(node.name, planned.why_not or node.kept)
            return
        if not planned.moves:
            if one.state != "removable":
                why = f"SeasonPolicy {self.policy} packs: nothing runs here but what runs on each node"
                now = self.process.clock.now()
                self.chosen[node.name] = replace(one, state="removable", since=now, why=why)
                log.info("node_emptied", {names.NODE: node.name, names.POLICY: self.policy or ""})
            return
        if one.state == "removable":
            one = replace(one, state="emptying", since=self.process.clock.now())
            self.chosen[node.name] = one
        pods = [move.pod for move in planned.moves]
        # Before the mark stands, pods would come back to where they were.
        if not node.is_marked or self.evictions.waits({pod.uid for pod in pods}):
            return
        if one.asked >= MOST_ASKED:
            await self._give_up(node.name, CAME_BACK.format(MOST_ASKED))
            return
        reason = f"SeasonPolicy {self.policy} packs: its node {node.name} is emptied"
        request = await self.evictions.ask(pods, reason)
        self.chosen[node.name] = replace(
            one,
            request=request or one.request,
            asked=one.asked + bool(request),
            why=reason,
        )

    async def _choose(self, nodes: Sequence[PackNode]) -> None:
        emptying = sum(one.state == "emptying" for one in self.chosen.values())
        left = [one for one in nodes if one.name not in self.chosen and not one.takes_none]
        if emptying >= AT_ONCE or len(self.chosen) >= self.most or len(left) <= LEAST_LEFT:
            return
        monotonic = self.process.clock.monotonic()
        for name in [name for name, until in self._left_until.items() if until <= monotonic]:
            del self._left_until[name]
        worth = [one for one in candidates(nodes, self.chosen) if one.name not in self._left_until]
        for node in worth[:READ_IN_A_ROUND]:
            planned = await self._plan(node, nodes)
            if planned.why_not:
                self._left_until[node.name] = monotonic + AGAIN_S
                continue
            now = self.process.clock.now()
            self.chosen[node.name] = EmptiedNode(
                node=node.name, since=now, why=f"SeasonPolicy {self.policy} packs"
            )
            log.info("node_chosen", {names.NODE: node.name, names.COUNT: len(planned.moves)})
            return

    async def _give_up(self, name: str, why: str) -> None:
        """Have it be as any other; *why*: empty, because the season is over."""
        one = self.chosen.pop(name)
        if one.request:
            await self.evictions.cancel(one.request)
        if why:
            self._left_until[name] = self.process.clock.monotonic() + AGAIN_S
        log.info("node_given_back", {names.NODE: name, names.REASON: why or "season"})
