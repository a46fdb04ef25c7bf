"""All advice, made a few rows at a time: for 100 000 containers it takes a second and a half, in which reports,
probes and people need their turns."""

import hashlib
from dataclasses import dataclass

import msgspec
from nemutator_common.clocks import Clock

from nemutator_controller.sizing.documents import Advice, advice_list, essence
from nemutator_controller.sizing.keys import is_of
from nemutator_controller.sizing.ports import GrowingMemory, Requests
from nemutator_controller.sizing.usages import Usages

AT_ONCE = 1_000
"""Rows between two turns of the loop: about 10 ms."""


@dataclass(frozen=True, slots=True)
class AllAdvice:
    items: list[Advice]
    tag: str
    """The same for as long as no decision would be another."""


async def gather_advice(
    usages: Usages,
    requests: Requests,
    *,
    growing: GrowingMemory,
    clock: Clock,
    namespace: str | None = None,
    workload: str | None = None,
) -> AllAdvice:
    """Advice for all containers that *usages* know, or for those in *namespace*, or of *workload* (KIND/NAME, or a name)."""
    requested, now = await requests.now(), clock.now()
    keys = usages.keys()
    if namespace is not None or workload is not None:
        keys = [
            key
            for key in keys
            if namespace in (None, key.namespace) and is_of(workload, key.owner_kind, key.owner)
        ]
    # To put them in order takes as long as a few hundred rows where many are new.
    await clock.sleep(0)
    items: list[Advice] = []
    digest = hashlib.blake2b(digest_size=16)
    for begin in range(0, len(keys), AT_ONCE):
        some = advice_list(
            usages.columns(keys[begin : begin + AT_ONCE], now=now), requested, growing, now=now
        )
        digest.update(msgspec.json.encode(essence(some)))
        items += some
        await clock.sleep(0)
    return AllAdvice(items, digest.hexdigest())
