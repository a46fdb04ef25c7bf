"""Has labels and annotations of pods that run, and of workloads, follow policies and tokens.

What is written stands in the journal before it is written, and the object's stamp names that record, so that
it is taken back as any mutation is. Only an object that has changed is looked at; all are when a policy or a
token has changed, a part of them in each check, so that a cluster of any size costs a bounded share of a
processor.
"""

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, dataclass, field, replace

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.following.changes import MetadataChange, change_of, restamped
from nemutator_controller.following.live_policies import followed_by_what_runs, remembered_after
from nemutator_controller.following.ports import (
    FollowedObjects,
    FollowedRules,
    FollowingJournal,
    RememberedPolicies,
)
from nemutator_controller.following.records import (
    FollowedObject,
    ObjectChangedError,
    ObjectNotWrittenError,
    Workload,
    taken_back,
)
from nemutator_controller.following.reverted_writes import DisputedField, RevertedWrites
from nemutator_controller.following.workload_views import POD
from nemutator_controller.mutations.decisions import Decision, Edit
from nemutator_controller.mutations.paths import Json, PathError
from nemutator_controller.mutations.stamps import parse_stamp
from nemutator_controller.policies.matches import matches
from nemutator_controller.policies.plans import Situation, candidate
from nemutator_controller.policies.snapshot import Policies

log = logging.getLogger(__name__)

CHECK_S = 1.0
TRIES = 5
"""Somebody else may write the object between our read and our write."""

AT_ONCE = 50
"""Objects that are read in one check: each costs the API server a question."""

LOOKED_AT = 10_000
"""Objects of a look at all of them that are looked at in one check: about a fifth of a second."""

FOREIGN = "somebody else has written {} since nemutator did: it stays, and does not follow its policy any more"
DISPUTED = (
    "somebody else reverts {} whenever nemutator has written it: it is left alone for {:.0f} minutes, then"
    " tried again, each time after a longer wait"
)


@dataclass(slots=True)
class LiveMetadata:
    objects: FollowedObjects
    rules: FollowedRules
    journal: FollowingJournal
    remembered: RememberedPolicies
    process: Process
    fresh: Callable[[], str]
    """Makes unused ids of decisions."""
    _: KW_ONLY
    per_minute: float
    """Writes."""
    _room: float = field(default=0.0, init=False)
    _rules: tuple[Policies | None, str] = field(default=(None, ""), init=False)
    """The policies and the tokens of the last check."""
    _rest: AsyncIterator[FollowedObject] | None = field(default=None, init=False)
    """Of all objects those that have not been looked at yet; None: all of them have."""
    _remembered: Mapping[str, float] | None = field(default=None, init=False)
    """Live policies, those that are deleted too; None: they have not been read."""
    _is_outdated: bool = field(default=True, init=False)
    """Whether all have to be looked at once more."""
    _due: dict[str, FollowedObject] = field(default_factory=dict, init=False)
    """By uid: objects that have to be read to know whether they are as they should be."""
    _reverted: RevertedWrites = field(default_factory=RevertedWrites, init=False)

    async def run(self) -> None:
        self._room = max(1.0, self.per_minute / 60)
        while True:
            await self.process.clock.sleep(CHECK_S)
            self._room = min(self._room + self.per_minute * CHECK_S / 60, max(1.0, self.per_minute))
            try:
                await self._check()
            except (StoreUnavailableError, ObjectNotWrittenError) as error:
                log.warning("metadata_does_not_follow", {names.ERROR: str(error)})

    async def _check(self) -> None:
        changed, known = self.objects.changed(), self.rules.policies
        if changed is None:
            self._is_outdated = True
        if known is None:
            return
        live = await self._live(known)
        # Out of its times a policy says nothing, and what it has written goes.
        policies = known.at(self.process.clock.now(), self.rules.in_season)
        tag, _ = self.rules.tokens
        if (policies, tag) != self._rules:
            # A look that is under way goes to its end: rules that keep changing hold up nothing.
            self._is_outdated = True
        self._rules = policies, tag
        if self._reverted.end_waits(self.process.clock.monotonic()):
            self._is_outdated = True
        if live:
            for one in changed or ():
                self._consider(one, policies, live)
            await self._read_on(policies, live)
        else:
            self._rest, self._is_outdated = None, True
            self._due.clear()
        self.process.meter.gauge(names.FOLLOWING_DUE, len(self._due))
        self.process.meter.gauge(names.FOLLOWING_DISPUTED, len(self._reverted))
        await self._follow(policies, live)

    async def _live(self, known: Policies) -> AbstractSet[str]:
        """The names of policies that what runs follows, or has followed until they were deleted."""
        before = self._remembered
        if before is None:
            before = self._remembered = await self.remembered.all()
        after = remembered_after(before, known, self.process.clock.now())
        if after != before:
            # Before anything is written for them: who deletes one may do so while the brain is away.
            await self.remembered.replace(after)
            self._remembered = after
        return followed_by_what_runs(after, known)

    async def _read_on(self, policies: Policies, live: AbstractSet[str]) -> None:
        """Look at further objects of all, until enough of them have to be read."""
        if self._rest is None and self._is_outdated:
            self._rest = self.objects.everything()
            self._is_outdated = self._rest is None
        looked_at = 0
        while self._rest is not None and looked_at < LOOKED_AT and len(self._due) < AT_ONCE:
            if (one := await anext(self._rest, None)) is None:
                self._rest = None
                return
            self._consider(one, policies, live)
            looked_at += 1

    def _consider(self, one: FollowedObject, policies: Policies, live: AbstractSet[str]) -> None:
        if self._may_follow(one, policies, live):
            self._due[one.subject.uid] = one

    async def _follow(self, policies: Policies, live: AbstractSet[str]) -> None:
        if not self._due:
            return
        reversed_ = taken_back(await self.journal.tombstones())
        for one in list(self._due.values())[:AT_ONCE]:
            if self._room < 1.0:
                return
            # If it fails for now, those behind it have their turn first.
            del self._due[one.subject.uid]
            self._due[one.subject.uid] = one
            if await self._bring(one, policies, live, reversed_[one.workload]):
                del self._due[one.subject.uid]

    async def _bring(
        self,
        one: FollowedObject,
        policies: Policies,
        live: AbstractSet[str],
        stays: frozenset[str],
    ) -> bool:
        """Write what follows; whether the object need not be read again before something changes."""
        workload = _workload(one)
        for _ in range(TRIES):
            found = await self.objects.read(one)
            if found is None:
                return True
            document, version = found
            services = self.rules.service_selectors(one.subject.namespace)
            if services is None:
                return False
            leave = stays | self._reverted.left_alone(workload)
            try:
                change = change_of(
                    document,
                    self._situation(one, leave),
                    policies.for_pods,
                    live,
                    services,
                )
            except (PathError, RecursionError) as error:
                log.warning(
                    "metadata_not_followed", {names.OBJECT: _name(one), names.ERROR: str(error)}
                )
                return True
            for path in () if change is None else change.left:
                self._count("foreign")
                self.objects.notify(one, FOREIGN.format(path))
            for note in () if change is None else change.kept:
                self._count("kept")
                self.objects.notify(one, note)
            if change is None or not change.edits:
                return True
            disputed = self._reverted.disputed(
                workload, one.subject.uid, change.edits, self.process.clock.monotonic()
            )
            if disputed:
                await self._give_way(one, change, disputed)
                continue
            try:
                await self._write(one, document, version, change)
            except ObjectChangedError:
                self._count("conflict")
                continue
            except ObjectNotWrittenError as error:
                if error.again:
                    raise
                self._count("refused")
                log.warning(
                    "metadata_not_followed", {names.OBJECT: _name(one), names.ERROR: str(error)}
                )
                return True
            # The watch shows the version that we have made, which is looked at once more.
            return True
        return False

    async def _write(
        self, one: FollowedObject, document: Json, version: str, change: MetadataChange
    ) -> None:
        decision = self.fresh()
        stamp = restamped(document, one.subject.kind, decision, change)
        if stamp is None:
            self._count("no_room")
            log.warning(
                "metadata_not_followed", {names.OBJECT: _name(one), names.REASON: "no_room"}
            )
            return
        edits = change.stamped or change.edits
        await self.journal.add(self._decision(decision, one, edits))
        self._room -= 1.0
        await self.objects.write(one, document, version, (*change.edits, stamp))
        self._reverted.wrote(one.subject.uid, change.edits)
        self._count("written")
        log.info("metadata_followed", {names.OBJECT: _name(one), names.DECISION: decision})

    async def _give_way(
        self, one: FollowedObject, change: MetadataChange, disputed: Sequence[DisputedField]
    ) -> None:
        """Tell people once of what is not written: in the log, by an Event and in the journal."""
        new = {
            each.path: DISPUTED.format(each.path, each.wait_s / 60)
            for each in disputed
            if each.is_new
        }
        self._count("disputed", len(disputed))
        for note in new.values():
            log.warning("field_disputed", {names.OBJECT: _name(one), names.REASON: note})
            self.objects.notify(one, note)
        if new:
            edits = [edit for edit in change.edits if edit.path in new]
            preview = self._decision(self.fresh(), one, edits)
            await self.journal.add(replace(preview, mode="preview", warnings=tuple(new.values())))

    def _decision(self, id_: str, one: FollowedObject, edits: Sequence[Edit]) -> Decision:
        return Decision(
            id=id_,
            at=self.process.clock.now(),
            request_uid="",
            operation="LIVE",
            mode="apply",
            subject=one.subject,
            edits=tuple(edits),
        )

    def _situation(self, one: FollowedObject, stays: frozenset[str]) -> Situation:
        return Situation(
            subject=one.subject,
            namespace_labels=self.rules.namespace_labels(one.subject.namespace),
            reversed=stays,
            unwanted=self.rules.unwanted_labels(one.workload),
            tokens=self.rules.tokens[1],
        )

    def _may_follow(self, one: FollowedObject, policies: Policies, live: AbstractSet[str]) -> bool:
        """Whether it has to be read to know: the watch shows no images, no annotations but ours, and no
        templates."""
        stamp = parse_stamp(one.stamp) if one.stamp else None
        if stamp is not None and any(edit.policy in live for edit in stamp.edits or ()):
            return True
        possible = [p for p in policies.for_pods_of(one.subject.namespace) if p.name in live]
        if not possible:
            return False
        seen = candidate(self._situation(one, frozenset()), one.labels, {})
        is_a_pod = one.subject.kind == POD
        return any(
            each.narrowed or (not is_a_pod and each.pods.requirements) or matches(each, seen)
            for each in possible
        )

    def _count(self, result: str, count: int = 1) -> None:
        self.process.meter.count(names.FOLLOWED, count, result=result)


def _name(one: FollowedObject) -> str:
    return f"{one.subject.namespace}/{one.subject.name}"


def _workload(one: FollowedObject) -> Workload:
    subject = one.subject
    if not subject.owner_kind:
        return subject.namespace, subject.kind, subject.name
    return subject.namespace, subject.owner_kind, subject.owner_name
