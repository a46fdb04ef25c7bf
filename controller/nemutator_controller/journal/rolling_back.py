"""Takes a decision back: plans, writes what can be written, and notes the outcome of each edit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from nemutator_common.admission_snapshots import IN_TEMPLATE, Tombstone
from nemutator_common.process import Process

from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.decision_stamps import (
    about,
    concerns,
    decision_from,
    is_about,
    stamp_on,
)
from nemutator_controller.journal.live_objects import (
    ChangedError,
    LiveObject,
    ObjectRefusedError,
    UnreachableError,
)
from nemutator_controller.journal.ports import JournalStore, Objects, PolicyRevisions
from nemutator_controller.journal.records import (
    EditOutcome,
    JournalEntry,
    KeptTombstone,
    Result,
    Reversal,
    names_of,
)
from nemutator_controller.journal.reversal_steps import ReversalStep, backwards, steps_back
from nemutator_controller.journal.rollback_plans import (
    MADE_ANEW,
    NEEDS_NEW_POD,
    NO_OWNER,
    RollbackPlan,
    restamped,
    state_after,
)
from nemutator_controller.journal.ways import POD
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.mutations.paths import AROUND, WORKLOADS

TRIES = 10
"""Somebody else may write the object between our read and our write, as kubelet does when a pod starts."""

MOST_OTHERS = 100
"""The newest mutations of one object that are read."""

NO_ROOM = "there is no room for a further tombstone: roll policies back instead of single pods"
NOT_HEARD = (
    "a replica of admission does not know of it yet, and might do it again to the next pod: ask"
    " again"
)
KEPT_CHANGING = "it kept changing while this was tried: try again"


async def no_policies() -> Mapping[str, str]:
    return {}


class NotToReverseError(Exception):
    """There is nothing to take back; says why, and what to do instead."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class RollingBack:
    store: JournalStore
    objects: Objects
    replicas: AdmissionReplicas
    fresh: Callable[[], str]
    """Makes unused ids of reversals."""
    process: Process
    revisions: PolicyRevisions = no_policies

    async def plan(self, decision: Decision, *, policy: str = "") -> RollbackPlan:
        """Of what *policy* has made, or of all.

        Raises `NotToReverseError`, and `UnreachableError` when the object cannot be read.
        """
        if decision.mode != "apply":
            raise NotToReverseError(
                f"{decision.id} was {decision.mode} only: it has changed nothing",
                "choose one whose mode is apply",
            )
        if policy and all(edit.policy != policy for edit in decision.edits):
            raise NotToReverseError(
                f"the policy {policy} has no part in {decision.id}",
                "`nemutator mutations ID` says by which policy each field is",
            )
        subject = decision.subject
        if subject.name:
            live = await self.objects.get(subject)
        else:
            live = await self.objects.find(subject, decision.id)
        if live is None:
            raise _gone(subject)
        if self._is_another(live, decision):
            is_the_same = subject.uid != "" and subject.uid == live.subject.uid
            raise _changed_again(subject) if is_the_same else _gone(subject)
        entries = await self._others(decision, live)
        others = tuple(entry.decision for entry in entries)
        steps = steps_back(
            [decision],
            live.document,
            subject.kind,
            running=self.objects.running,
            newer=[
                entry.decision
                for entry in entries
                if entry.decision.at > decision.at and entry.state != "reversed"
            ],
            policy=policy,
        )
        return RollbackPlan(decision=decision, live=live, steps=steps, others=others, policy=policy)

    async def stamped(self, subject: Subject) -> Decision:
        """The decision whose stamp the object carries, from the journal or else from the stamp."""
        live = await self.objects.get(subject)
        if live is None:
            raise _gone(subject)
        if (stamp := stamp_on(live)) is None:
            raise NotToReverseError(
                f"{names_of(subject)} carries no stamp of ours: nothing was changed in it",
                "`nemutator mutations` lists what was changed",
            )
        entry = await self.store.entry(stamp.id)
        if entry is not None and concerns(entry, live):
            return about(entry.decision, live.subject)
        if (decision := decision_from(stamp, live)) is None:
            raise NotToReverseError(
                f"the stamp of {names_of(subject)} was too long to say what was changed, and the"
                f" journal does not have {stamp.id}",
                "delete the pod: its workload makes another one",
            )
        return decision

    async def roll_back(self, decision: Decision, *, evict: bool, policy: str = "") -> Reversal:
        """Take back what can be taken back, which is noted even when the rest fails."""
        outcomes: dict[str, EditOutcome] = {}
        evicted = False
        for left in reversed(range(TRIES)):
            plan = await self.plan(decision, policy=policy)
            for step in plan.steps:
                if step.verdict != "reverse":
                    _note([step], outcomes, step.verdict, step.why)
            try:
                await self._write(plan, outcomes)
            except ChangedError:
                if not left:
                    _note(plan.steps, outcomes, "refused", KEPT_CHANGING)
                continue
            evicted = await self._replace(plan, outcomes, evict=evict)
            break
        reversal = self._reversal(decision, outcomes, evicted=evicted)
        await self.store.close(reversal)
        return reversal

    async def rehearse(self, decision: Decision, *, policy: str = "") -> Reversal:
        """What `roll_back` without an eviction would come to, as the server says; nothing is changed."""
        plan, outcomes = await self.plan(decision, policy=policy), dict[str, EditOutcome]()
        for step in plan.steps:
            if step.verdict != "reverse":
                _note([step], outcomes, step.verdict, step.why)
        for way in ("patch", "resize"):
            if not (steps := plan.by(way)):
                continue
            edits = [backwards(step) for step in steps]
            try:
                await self.objects.rehearse(plan.live, edits, resize=way == "resize")
            except (ChangedError, ObjectRefusedError, UnreachableError) as error:
                _note(steps, outcomes, "refused", str(error))
            else:
                _note(steps, outcomes, "reversed", "")
        _note(plan.by("new pod"), outcomes, "left", NEEDS_NEW_POD)
        return self._reversal(decision, outcomes, evicted=False)

    def _reversal(
        self, decision: Decision, outcomes: Mapping[str, EditOutcome], *, evicted: bool
    ) -> Reversal:
        return Reversal(
            id=self.fresh(),
            decision=decision.id,
            at=self.process.clock.now(),
            state=state_after(list(outcomes.values())),
            outcomes=tuple(outcomes[edit.path] for edit in decision.edits),
            evicted=evicted,
        )

    async def _tombstones(self, plan: RollbackPlan, edits: Iterable[Edit]) -> list[KeptTombstone]:
        """What keeps *edits* from being made again to the workload."""
        subject, revisions = plan.live.subject, await self.revisions()
        kind, name = plan.owner or (subject.kind, subject.name)
        namespace = subject.namespace
        uid = await self._uid(Subject(api_version="", kind=kind, namespace=namespace, name=name))
        return [
            KeptTombstone(
                tombstone=Tombstone(namespace, kind, name, self._kept_path(subject, edit)),
                at=self.process.clock.now(),
                decision=plan.decision.id,
                policy=edit.policy,
                revision=revisions.get(edit.policy, ""),
                owner_uid=uid,
            )
            for edit in edits
        ]

    def _kept_path(self, subject: Subject, edit: Edit) -> str:
        """As a tombstone names it: in a cluster other policies change templates than pods."""
        if not self.objects.running or subject.kind not in WORKLOADS:
            return edit.path
        return edit.path if edit.path.startswith(AROUND) else f"{IN_TEMPLATE}{edit.path}"

    async def _uid(self, owner: Subject) -> str:
        try:
            live = await self.objects.get(owner)
        except (ObjectRefusedError, UnreachableError):
            return ""
        return "" if live is None else live.subject.uid

    async def _others(self, decision: Decision, live: LiveObject) -> tuple[JournalEntry, ...]:
        """Our other changes of the object, newest first; a running pod has one decision only."""
        subject = live.subject
        if self._is_running_pod(live):
            return ()
        entries = await self.store.entries(
            namespace=subject.namespace, name=subject.name, limit=MOST_OTHERS
        )
        return tuple(
            entry
            for entry in entries
            if entry.decision.id != decision.id
            and entry.decision.mode == "apply"
            and is_about(entry.decision, subject)
        )

    def _is_another(self, live: LiveObject, decision: Decision) -> bool:
        """Whether another stamp is on it now: of another pod, as in StatefulSets, or of a later mutation."""
        if not self._is_running_pod(live):
            return False
        stamp = stamp_on(live)
        return stamp is not None and stamp.id != decision.id

    async def _write(self, plan: RollbackPlan, outcomes: dict[str, EditOutcome]) -> None:
        live = plan.live
        for way in ("patch", "resize"):
            steps = plan.by(way)
            if not steps:
                continue
            edits = [backwards(step) for step in steps]
            if not self._is_running_pod(live):
                edits += restamped(plan)
                if why := await self._remember(plan):
                    # Our own write would come back with what it takes away.
                    _note(steps, outcomes, "refused", why)
                    continue
            try:
                live = await self.objects.write(live, edits, resize=way == "resize")
            except (ObjectRefusedError, UnreachableError) as error:
                _note(steps, outcomes, "refused", str(error))
            else:
                _note(steps, outcomes, "reversed", "")

    async def _replace(
        self, plan: RollbackPlan, outcomes: dict[str, EditOutcome], *, evict: bool
    ) -> bool:
        """Evict the pod, so that the next one is without the edits; whether it was evicted."""
        steps = plan.by("new pod")
        if not steps:
            return False
        if plan.owner is None:
            _note(steps, outcomes, "left", NO_OWNER)
            return False
        if not evict:
            _note(steps, outcomes, "left", NEEDS_NEW_POD)
            return False
        if why := await self._remember(plan):
            _note(steps, outcomes, "refused", why)
            return False
        try:
            await self.objects.evict(plan.live)
        except (ObjectRefusedError, UnreachableError, ChangedError) as error:
            _note(steps, outcomes, "refused", f"{error}; pods made from now on are without it")
            return False
        _note(steps, outcomes, "reversed", MADE_ANEW)
        return True

    async def _remember(self, plan: RollbackPlan) -> str:
        """Have every replica of admission leave this alone from now on; or why that is not so."""
        # All steps: the next pod would have again what could be patched in this one.
        stones = await self._tombstones(plan, plan.stays_taken_back)
        if not await self.store.add_tombstones(stones):
            return NO_ROOM
        return "" if await self.replicas.knows() else NOT_HEARD

    def _is_running_pod(self, live: LiveObject) -> bool:
        return self.objects.running and live.subject.kind == POD


def _gone(subject: Subject) -> NotToReverseError:
    return NotToReverseError(
        f"{names_of(subject)} is not there any more",
        "look at its workload's newer pods: `nemutator mutations` lists them",
    )


def _changed_again(subject: Subject) -> NotToReverseError:
    return NotToReverseError(
        f"{names_of(subject)} was changed again since: its later mutation has all of this one, too",
        f"`nemutator rollback --pod {subject.namespace}/{subject.name}` takes all of it back",
    )


def _note(
    steps: Sequence[ReversalStep], outcomes: dict[str, EditOutcome], result: Result, why: str
) -> None:
    for step in steps:
        path = step.edit.path
        if (done := outcomes.get(path)) is None or done.result != "reversed":
            outcomes[path] = EditOutcome(path=path, live=step.live, result=result, why=why)
