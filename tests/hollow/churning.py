"""Pods that end and are replaced at a rate, as rollouts and evictions do it all day."""

import asyncio
import contextlib
import random
from collections import deque

from nemutator_common.clocks import Clock
from nemutator_controller.kube.budget import TokenBucket
from nemutator_controller.kube.failures import KubeError, NotFoundError
from nemutator_controller.kube.resources import PODS

from tests.hollow import writes
from tests.hollow.plan import Life, Plan
from tests.hollow.populating import Populating
from tests.hollow.sending import Sender

AT_ONCE = 8


class Churning:
    """Begin it when the fleet is populated; `run` is the loop, `some` a part of it."""

    def __init__(self, plan: Plan, populating: Populating, sender: Sender, clock: Clock) -> None:
        lives = list(plan.lives())
        random.Random(f"{plan.seed}/churn").shuffle(lives)
        # Whoever waited longest is next; a seat whose pod is being replaced is not in here.
        self._waiting = deque(lives)
        self._populating = populating
        self._sender = sender
        self._clock = clock
        self.replaced = 0

    @property
    def lives(self) -> frozenset[Life]:
        """The pods that there are now, but for those that are being replaced."""
        return frozenset(self._waiting)

    async def run(self, *, per_s: float) -> None:
        """Replace pods for ever; a server that is slower than *per_s* is not pressed harder."""
        await self._work(per_s, None)

    async def some(self, count: int, *, per_s: float) -> None:
        await self._work(per_s, count)

    async def _work(self, per_s: float, count: int | None) -> None:
        pace = TokenBucket(per_s=per_s, burst=1)
        left = count

        async def work() -> None:
            nonlocal left
            while left is None or left > 0:
                if left is not None:
                    left -= 1
                await self._clock.sleep(pace.take(self._clock.monotonic()))
                await self._replace()

        async with asyncio.TaskGroup() as group:
            for _ in range(min(AT_ONCE, len(self._waiting))):
                group.create_task(work())

    async def _replace(self) -> None:
        life = self._waiting.popleft()
        # What is refused is counted where it is sent, and the seat is tried again in its turn.
        with contextlib.suppress(KubeError):
            await self._end(life)
            life = life.next
            await self._populating.pod(life)
            self.replaced += 1
        self._waiting.append(life)

    async def _end(self, life: Life) -> None:
        """First marked, then gone: watchers see both, as of a pod that a kubelet has ended."""
        namespace = life.workload.namespace
        for call in (writes.delete, writes.finish):
            with contextlib.suppress(NotFoundError):
                await self._sender.send(call(PODS, namespace, life.name), done_by=(NotFoundError,))
