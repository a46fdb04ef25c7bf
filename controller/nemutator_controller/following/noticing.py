"""Notices pods that run and that admission has missed, and tells people of each once.

Only a pod that was made after a policy was written is held against it: one that is older is no failure. A pod
is read once.
"""

import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.following.missed import (
    SETTLED_S,
    MissedPod,
    may_be_missed,
    missed_of,
    moment_of,
)
from nemutator_controller.following.ports import (
    FollowedObjects,
    FollowedRules,
    FollowingJournal,
    MissedEvictions,
)
from nemutator_controller.following.records import (
    FollowedObject,
    ObjectNotWrittenError,
    Workload,
    taken_back,
)
from nemutator_controller.mutations.paths import PathError
from nemutator_controller.policies.model import Policy
from nemutator_controller.policies.plans import Situation
from nemutator_controller.policies.snapshot import NO_SEASON, Policies

log = logging.getLogger(__name__)

CHECK_S = 1.0
SEEN_AT_ONCE = 10_000
"""Pods of all that are looked at in one check."""

READ_AT_ONCE = 10
"""Pods that are read in one check: each costs the API server a question."""

MOST_DUE = 10_000
MOST_READ = 50_000
"""Pods that are remembered as read; a further one costs another question when it changes."""

MOST_LISTED = 1_000

AGAIN_S = 3_600.0
"""For so long no pod of a workload is evicted that has come since the first one was."""


@dataclass(slots=True)
class MissedPods:
    objects: FollowedObjects
    rules: FollowedRules
    journal: FollowingJournal
    evictions: MissedEvictions
    listed: dict[str, MissedPod]
    """Where they are put, by uid, as long as they run."""
    process: Process
    _: KW_ONLY
    _since: dict[str, tuple[Policy, float]] = field(default_factory=dict, init=False)
    """By name of a policy, since when it is as it is."""
    _rest: AsyncIterator[FollowedObject] | None = field(default=None, init=False)
    _is_behind: bool = field(default=True, init=False)
    """Whether all pods have to be looked at."""
    _due: dict[str, FollowedObject] = field(default_factory=dict, init=False)
    """By uid, as the next one."""
    _read: dict[str, None] = field(default_factory=dict, init=False)
    _asked: dict[Workload, float] = field(default_factory=dict, init=False)
    """When the first pod of a workload was asked to be evicted."""

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(CHECK_S)
            try:
                await self._check()
            except (StoreUnavailableError, ObjectNotWrittenError) as error:
                log.warning("missed_pods_unknown", {names.ERROR: str(error)})

    async def _check(self) -> None:
        if (policies := self.rules.policies) is None:
            return
        self._date(policies)
        changed = self.objects.changed()
        for one in changed or ():
            self._consider(one, policies)
        if changed is None:
            self._is_behind = True
        if self._is_behind and self._rest is None:
            self._rest = self.objects.everything()
            self._is_behind = self._rest is None
        for _ in range(SEEN_AT_ONCE):
            if self._rest is None:
                break
            if (next_one := await anext(self._rest, None)) is None:
                self._rest = None
            else:
                self._consider(next_one, policies)
        await self._judge(policies)
        for uid in self.listed.keys() - self.objects.there(self.listed):
            del self.listed[uid]
        self.process.meter.gauge(names.MISSED_PODS, len(self.listed))

    def _date(self, policies: Policies) -> None:
        now, earlier = self.process.clock.now(), self._since
        self._since = {}
        for each in policies.for_pods:
            known = earlier.get(each.name)
            if known is None or known[0] != each:
                since = self.rules.written_at(each.name)
                known = each, now if since is None else since
            self._since[each.name] = known

    def _consider(self, one: FollowedObject, policies: Policies) -> None:
        uid = one.subject.uid
        if one.stamp or uid in self._read or uid in self._due:
            return
        if may_be_missed(one, self._situation(one), self._of_its_time(one, policies)):
            if len(self._due) < MOST_DUE:
                self._due[uid] = one
            else:
                self._count("not_read")

    async def _judge(self, policies: Policies) -> None:
        if not self._due:
            return
        reversed_ = taken_back(await self.journal.tombstones())
        for one in list(self._due.values())[:READ_AT_ONCE]:
            subject = one.subject
            # If it cannot be read for now, those behind it have their turn first.
            del self._due[subject.uid]
            self._due[subject.uid] = one
            read = await self.objects.read(one)
            del self._due[subject.uid]
            self._read[subject.uid] = None
            if len(self._read) > MOST_READ:
                del self._read[next(iter(self._read))]
            if read is None:
                continue
            situation = self._situation(one, reversed_[one.workload])
            try:
                found = missed_of(one, read[0], situation, self._of_its_time(one, policies))
            except (PathError, RecursionError) as error:
                log.warning("pod_not_judged", {names.OBJECT: str(one), names.ERROR: str(error)})
                continue
            if found is not None:
                await self._tell(found)

    async def _tell(self, found: MissedPod) -> None:
        uid = found.pod.subject.uid
        found = replace(found, noticed_at=self.process.clock.now())
        if len(self.listed) < MOST_LISTED:
            self.listed[uid] = found
        if self._is_turn(found) and await self.evictions.ask(found.pod, str(found)):
            found = replace(found, result="evicted")
            if uid in self.listed:
                self.listed[uid] = found
        self._count(found.result)
        log.warning("pod_missed", {names.OBJECT: str(found.pod), names.REASON: str(found)})
        self.objects.notify(found.pod, str(found), reason="Missed")

    def _is_turn(self, found: MissedPod) -> bool:
        """Whether it is evicted; not if it has come in the place of one that was, as while admission is
        down still."""
        now = self.process.clock.now()
        made_at = moment_of(found.pod.created)
        if not found.is_to_go or made_at is None:
            return False
        self._asked = {key: at for key, at in self._asked.items() if at > now - AGAIN_S}
        return made_at < self._asked.setdefault(found.pod.workload, now)

    def _of_its_time(self, one: FollowedObject, policies: Policies) -> Sequence[Policy]:
        made_at = moment_of(one.created)
        if made_at is None:
            return ()
        # Which season it was then is not known: what a policy of seasons would have done is not missed.
        return [
            each
            for each in policies.at(made_at, NO_SEASON).for_pods_of(one.subject.namespace)
            if self._since[each.name][1] + SETTLED_S <= made_at
        ]

    def _situation(self, one: FollowedObject, stays: frozenset[str] = frozenset()) -> Situation:
        # Tokens that are known now may not have been known then.
        return Situation(
            subject=one.subject,
            namespace_labels=self.rules.namespace_labels(one.subject.namespace),
            reversed=stays,
        )

    def _count(self, result: str) -> None:
        self.process.meter.count(names.MISSED, result=result)
