"""Nodes kept alive at a kubelet's pace: a Lease every ten seconds, the status every five minutes.

Without it the node lifecycle controller taints the nodes after its grace period (50 s) and evicts
their pods five minutes later.
"""

from collections.abc import Collection

from nemutator_common.clocks import Clock
from nemutator_controller.kube.budget import TokenBucket

from tests.hollow import nodes, writes
from tests.hollow.nodes import LEASE_NAMESPACE, LEASES, NODES
from tests.hollow.plan import Plan
from tests.hollow.sending import Sender

RENEW_S = 10.0
ROUNDS_BETWEEN_STATUSES = 30
"""Each round has the status of another thirtieth of the nodes: five minutes for each node."""

SPREAD = 0.8
"""The part of a round over which its writes are spread; the rest is for those that were slow."""

AT_ONCE = 8


class Heartbeats:
    """`run` is the loop."""

    def __init__(self, plan: Plan, sender: Sender, clock: Clock) -> None:
        self._plan = plan
        self._sender = sender
        self._clock = clock
        self._since = clock.now()
        self._rounds = 0
        self.silent: Collection[int] = frozenset()
        """Nodes, by number, that are to look dead."""
        self.slowest_round_s = 0.0
        """Above a Lease's 40 s less one round, nodes were close to looking dead."""

    async def run(self) -> None:
        while True:
            begun = self._clock.monotonic()
            await self.round()
            took_s = self._clock.monotonic() - begun
            self.slowest_round_s = max(self.slowest_round_s, took_s)
            await self._clock.sleep(max(0.0, RENEW_S - took_s))

    async def round(self) -> None:
        """One renewal of every node, spread over its time."""
        pace = TokenBucket(per_s=self._plan.nodes / (RENEW_S * SPREAD), burst=1)

        async def beat(number: int) -> None:
            await self._clock.sleep(pace.take(self._clock.monotonic()))
            await self._beat(number)

        alive = (number for number in range(self._plan.nodes) if number not in self.silent)
        await self._sender.each(alive, beat, at_once=AT_ONCE)
        self._rounds += 1

    async def _beat(self, number: int) -> None:
        plan, now = self._plan, self._clock.now()
        name, renewal = plan.node_names[number], {"spec": nodes.renewed(now)}
        await self._sender.send(writes.patch(LEASES, LEASE_NAMESPACE, name, renewal))
        if (number + self._rounds) % ROUNDS_BETWEEN_STATUSES:
            return
        status = nodes.node_status(plan, number, ready_since=self._since, now=now)
        await self._sender.send(
            writes.patch(NODES, "", name, {"status": status}, subresource="status")
        )
