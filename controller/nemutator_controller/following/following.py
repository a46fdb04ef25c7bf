"""Has labels and annotations of pods that run follow policies and tokens, a few writes at a time.

What is written stands in the journal before it is written, and the pod's stamp names that record, so that it
is taken back as any mutation is. A pod that is as it should be is not read again before it, a policy or a
token changes.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.following.changes import MetadataChange, change_of, restamped
from nemutator_controller.following.ports import FollowedPods, FollowedRules, FollowingJournal
from nemutator_controller.following.records import (
    FollowedPod,
    PodChangedError,
    PodNotWrittenError,
)
from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.mutations.paths import Json, PathError
from nemutator_controller.mutations.stamps import parse_stamp
from nemutator_controller.policies.matches import matches
from nemutator_controller.policies.plans import Situation, candidate
from nemutator_controller.policies.snapshot import Policies

log = logging.getLogger(__name__)

CHECK_S = 1.0
TRIES = 5
"""Somebody else may write the pod between our read and our write."""

AT_ONCE = 50
"""Pods that are read in one check: each costs the API server a question."""

FOREIGN = (
    "somebody else has changed {} since nemutator wrote it: it does not follow its policy any more"
)

State = tuple[str, int, str]
"""What a pod was looked at with: its version, the policies and the tokens."""


@dataclass(slots=True)
class LiveMetadata:
    pods: FollowedPods
    rules: FollowedRules
    journal: FollowingJournal
    process: Process
    fresh: Callable[[], str]
    """Makes unused ids of decisions."""
    _: KW_ONLY
    per_minute: float
    """Writes."""
    _room: float = field(default=0.0, init=False)
    _known: Policies | None = field(default=None, init=False)
    _generation: int = field(default=0, init=False)
    _settled: dict[str, State] = field(default_factory=dict, init=False)
    """By uid: what was seen as it should be."""

    async def run(self) -> None:
        self._room = max(1.0, self.per_minute / 60)
        while True:
            await self.process.clock.sleep(CHECK_S)
            self._room = min(self._room + self.per_minute * CHECK_S / 60, max(1.0, self.per_minute))
            try:
                await self._check()
            except (StoreUnavailableError, PodNotWrittenError) as error:
                log.warning("pods_do_not_follow", {names.ERROR: str(error)})

    async def _check(self) -> None:
        known = self.rules.policies
        if known is None:
            return
        live = {each.name for each in known.for_pods if each.spec.apply_to == "live"}
        # Out of its times a policy says nothing, and what it has written goes.
        policies = known.at(self.process.clock.now())
        if policies is not self._known and policies != self._known:
            self._generation += 1
        self._known = policies
        if not live or (pods := await self.pods.now()) is None:
            return
        tag, _ = self.rules.tokens
        due: list[FollowedPod] = []
        for pod in pods:
            state = (pod.version, self._generation, tag)
            if self._settled.get(pod.subject.uid) == state:
                continue
            if self._may_follow(pod, policies, live):
                due.append(pod)
            else:
                self._settled[pod.subject.uid] = state
        self._forget(pods)
        self.process.meter.gauge(names.FOLLOWING_DUE, len(due))
        await self._follow(due[:AT_ONCE], policies, live, tag)

    async def _follow(
        self, due: Sequence[FollowedPod], policies: Policies, live: set[str], tag: str
    ) -> None:
        if not due:
            return
        reversed_ = await self._reversed()
        for pod in due:
            if self._room < 1.0:
                return
            workload = pod.subject.namespace, pod.subject.owner_kind, pod.subject.owner_name
            version = await self._bring(pod, policies, live, reversed_[workload])
            if version is not None:
                self._settled[pod.subject.uid] = (version, self._generation, tag)

    async def _bring(
        self, pod: FollowedPod, policies: Policies, live: set[str], taken_back: frozenset[str]
    ) -> str | None:
        """Write what follows; the version that is as it should be, None when that is not known."""
        for _ in range(TRIES):
            found = await self.pods.read(pod)
            if found is None:
                return pod.version
            document, version = found
            try:
                change = change_of(
                    document, self._situation(pod, taken_back), policies.for_pods, live
                )
            except (PathError, RecursionError) as error:
                log.warning("pod_not_followed", {names.OBJECT: _name(pod), names.ERROR: str(error)})
                return version
            for path in () if change is None else change.left:
                self._count("foreign")
                self.pods.notify(pod, FOREIGN.format(path))
            if change is None or not change.edits:
                return version
            try:
                await self._write(pod, document, version, change)
            except PodChangedError:
                self._count("conflict")
                continue
            except PodNotWrittenError as error:
                if error.again:
                    raise
                self._count("refused")
                log.warning("pod_not_followed", {names.OBJECT: _name(pod), names.ERROR: str(error)})
                return version
            # The watch shows the version that we have made, which is looked at once more.
            return None
        return None

    async def _write(
        self, pod: FollowedPod, document: Json, version: str, change: MetadataChange
    ) -> None:
        decision = self.fresh()
        stamp = restamped(document, decision, change)
        if stamp is None:
            self._count("no_room")
            log.warning("pod_not_followed", {names.OBJECT: _name(pod), names.REASON: "no_room"})
            return
        edits = change.stamped or change.edits
        await self.journal.add(
            Decision(
                id=decision,
                at=self.process.clock.now(),
                request_uid="",
                operation="LIVE",
                mode="apply",
                subject=pod.subject,
                edits=edits,
            )
        )
        self._room -= 1.0
        await self.pods.write(pod, document, version, (*change.edits, stamp))
        self._count("written")
        log.info("pod_followed", {names.OBJECT: _name(pod), names.DECISION: decision})

    async def _reversed(self) -> dict[tuple[str, str, str], frozenset[str]]:
        found: defaultdict[tuple[str, str, str], frozenset[str]] = defaultdict(frozenset)
        for each in await self.journal.tombstones():
            found[each.namespace, each.owner_kind, each.owner_name] |= {each.path}
        return found

    def _situation(self, pod: FollowedPod, taken_back: frozenset[str]) -> Situation:
        return Situation(
            subject=pod.subject,
            namespace_labels=self.rules.namespace_labels(pod.subject.namespace),
            reversed=taken_back,
            tokens=self.rules.tokens[1],
        )

    def _may_follow(self, pod: FollowedPod, policies: Policies, live: set[str]) -> bool:
        """Whether it has to be read to know: the watch shows no images and no annotations but ours."""
        stamp = parse_stamp(pod.stamp) if pod.stamp else None
        if stamp is not None and any(edit.policy in live for edit in stamp.edits or ()):
            return True
        seen = candidate(self._situation(pod, frozenset()), pod.labels, {})
        return any(
            each.narrowed or matches(each, seen) for each in policies.for_pods if each.name in live
        )

    def _forget(self, pods: Sequence[FollowedPod]) -> None:
        uids = {pod.subject.uid for pod in pods}
        self._settled = {uid: state for uid, state in self._settled.items() if uid in uids}

    def _count(self, result: str) -> None:
        self.process.meter.count(names.FOLLOWED, result=result)


def _name(pod: FollowedPod) -> str:
    return f"{pod.subject.namespace}/{pod.subject.name}"
