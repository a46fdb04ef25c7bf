"""Pods of a watched cluster: those that there are, and each that comes or changes."""

import asyncio
from collections.abc import AsyncIterator

from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.subscribing import Resync

INTERESTING = 1_000
"""Changes of pods that may wait until their annotations are read."""

AT_ONCE = 500
"""Pods that are read in one turn of the event loop."""


async def changes_of_pods(watch: ClusterWatch, subscriber: str) -> AsyncIterator[Pod]:
    with watch.pods.subscribe(subscriber, capacity=INTERESTING) as subscription:
        async for change in subscription:
            if isinstance(change, Resync):
                for number, pod in enumerate(change.snapshot.objects.values(), 1):
                    yield pod
                    if number % AT_ONCE == 0:
                        await asyncio.sleep(0)
            elif change.after is not None:
                yield change.after
