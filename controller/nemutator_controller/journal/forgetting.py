"""Forgets what stays taken back once its policy wants something else, or its workload is another one.

Otherwise a new Deployment under an old name, and a new value of a policy, would never be followed.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.journal.live_objects import ObjectRefusedError, UnreachableError
from nemutator_controller.journal.ports import JournalStore, Objects, PolicyRevisions
from nemutator_controller.journal.records import KeptTombstone
from nemutator_controller.journal.revisions import is_outdated
from nemutator_controller.mutations.decisions import Subject

log = logging.getLogger(__name__)

EVERY_S = 5.0
MOST_ASKED = 25
"""Workloads that are asked for in one round: five requests a second."""


@dataclass(slots=True)
class Forgetting:
    store: JournalStore
    objects: Objects
    revisions: PolicyRevisions
    process: Process
    _asked: int = field(default=0, init=False)
    """Workloads that were asked for since the start, to go on with the next ones."""

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(EVERY_S)
            try:
                await self.forget()
            except StoreUnavailableError as failure:
                log.warning("tombstones_not_checked", {names.REASON: failure.reason})

    async def forget(self) -> int:
        """One round; the result is how many tombstones were forgotten."""
        kept = await self.store.tombstones()
        if not kept:
            return 0
        revisions = await self.revisions()
        gone = [each.tombstone for each in kept if is_outdated(each, revisions)]
        gone += await self._of_other_workloads(kept)
        count = await self.store.forget(gone) if gone else 0
        if count:
            log.info("tombstones_forgotten", {names.COUNT: count})
        return count

    async def _of_other_workloads(self, kept: Sequence[KeptTombstone]) -> list[Tombstone]:
        by_owner: dict[tuple[str, str, str, str], list[Tombstone]] = {}
        for each in kept:
            one = each.tombstone
            if each.owner_uid:
                owner = one.namespace, one.owner_kind, one.owner_name, each.owner_uid
                by_owner.setdefault(owner, []).append(one)
        owners = sorted(by_owner)
        some = [
            owners[(self._asked + number) % len(owners)]
            for number in range(min(MOST_ASKED, len(owners)))
        ]
        self._asked += len(some)
        gone: list[Tombstone] = []
        for owner in some:
            if await self._is_another(*owner):
                gone += by_owner[owner]
        return gone

    async def _is_another(self, namespace: str, kind: str, name: str, uid: str) -> bool:
        try:
            live = await self.objects.get(
                Subject(api_version="", kind=kind, namespace=namespace, name=name)
            )
        except (ObjectRefusedError, UnreachableError):
            # Nobody knows, so what was taken back stays so.
            return False
        return live is None or live.subject.uid != uid
