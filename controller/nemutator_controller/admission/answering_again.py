"""Answers reviews that are known by their bytes: nothing is decoded, planned or proven for them again.

The record is kept before the answer, as for all others. Whatever is not just as it was at the first time is left to
`webhook_handler.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nemutator_common import names
from nemutator_common.meters import Counted
from nemutator_common.process import Process

from nemutator_controller.admission.answer_templates import fits_template, template_of
from nemutator_controller.admission.frames import NotSavedError
from nemutator_controller.admission.known_answers import KnownAnswer, KnownAnswers
from nemutator_controller.admission.known_plans import (
    Circumstances,
    KnownPlan,
    are_same,
    circumstances_of,
)
from nemutator_controller.admission.known_texts import KnownTexts
from nemutator_controller.admission.ports import DecisionRecords, KnownCluster
from nemutator_controller.admission.recent_stamps import Origin, RecentStamps, labels_beside
from nemutator_controller.admission.recording import DecisionLog
from nemutator_controller.admission.review_texts import ReviewText
from nemutator_controller.mutations.decisions import Decision, Subject
from nemutator_controller.mutations.resource_bounds import UNBOUNDED, ResourceBounds
from nemutator_controller.policies.snapshot import Policies

KnownOfIt = tuple[Mapping[str, str] | None, frozenset[str], frozenset[str], ResourceBounds]
"""Labels of a pod's namespace; what was taken back for its workload; labels that this one does not want; bounds."""

COUNTED: Sequence[Counted] = (
    (names.ADMISSION_PLANS, {"origin": "known"}),
    (names.ADMISSIONS, {"result": "patched"}),
)
"""By each answer for which nothing was decoded."""


@dataclass(frozen=True, slots=True)
class AnsweringAgain:
    cluster: KnownCluster
    records: DecisionRecords
    fresh: Callable[[], str]
    process: Process
    stamps: RecentStamps
    decisions: DecisionLog
    known: KnownAnswers = field(default_factory=KnownAnswers)
    texts: KnownTexts = field(default_factory=KnownTexts)
    _seconds: Callable[[float], None] = field(init=False)

    def __post_init__(self) -> None:
        observe = self.process.meter.observer(names.ADMISSION_SECONDS)
        object.__setattr__(self, "_seconds", observe)

    def answer(
        self, text: ReviewText, caller: str, *, opted_in: bool
    ) -> tuple[bytes, Callable[[], None]] | None:
        """The bytes of an answer that is known, and what counts and logs it; None, and nothing has happened, when it is
        not."""
        began, at = self.process.clock.monotonic(), self.process.clock.now()
        known_now = self.known_now(at)
        known = self.known.find((text.key, opted_in), known_now) if known_now else None
        if known is None:
            return None
        self.stamps.hear(began)
        decision = self.fresh()
        if (
            not fits_template(decision, text.uid, caller)
            or not self._is_as_then(known, opted_in=opted_in)
            or not self.stamps.are_among(known.origin, known.unlike, began)
        ):
            return None
        try:
            self.records.keep(known.template.record_of(decision, at, text.uid, caller))
        except NotSavedError:
            # The long way says so to who creates the pod.
            return None
        edits = known.plan.planned.edits
        self.stamps.keep_alike(known.origin, known.labels, edits, decision, began)
        response = known.template.response_of(decision, text.uid)
        seconds = self.process.clock.monotonic() - began
        return response, partial(self._count, known, decision, seconds)

    def _count(self, known: KnownAnswer, decision: str, seconds: float) -> None:
        known.note(decision)
        self._seconds(seconds)

    def learn(
        self,
        body: bytes,
        text: ReviewText,
        pod: Any,
        plan: KnownPlan,
        circumstances: Circumstances,
        origin: Origin,
        record: Decision,
        *,
        opted_in: bool,
    ) -> None:
        """*pod* has got *plan* again, by this *record*; so does the next one whose review says what *body* says."""
        template, known_now = template_of(plan, record), self.known_now(self.process.clock.now())
        if template is None or not known_now or text.uid != record.request_uid:
            return
        is_bounded = known_now[0].for_pods_of(origin.namespace).write_amounts
        answer = KnownAnswer(
            plan=plan,
            subject=record.subject,
            circumstances=circumstances,
            known_of_it=self.known_of(record.subject, is_bounded=is_bounded),
            is_bounded=is_bounded,
            origin=origin,
            labels=labels_beside(pod, plan.planned.edits),
            unlike=tuple(self.stamps.kinds(origin)),
            template=template,
            note=self.decisions.noting(record.subject, plan.planned, "patched", *COUNTED),
        )
        self.known.keep((text.key, opted_in), known_now, answer)
        self.texts.keep(body, text)

    def known_now(self, at: float) -> tuple[Policies, *tuple[object, ...]] | tuple[()]:
        """Empty: nobody knows the policies yet."""
        cluster = self.cluster
        policies = cluster.policies
        if policies is None:
            return ()
        followed = policies.at(at, cluster.in_season)
        return followed, cluster.advisor, cluster.tokens, cluster.images, cluster.talkers

    def _is_as_then(self, known: KnownAnswer, *, opted_in: bool) -> bool:
        """Whether its circumstances are the same."""
        moment = self.cluster.moment(with_bounds=known.is_bounded)
        if moment is not None and moment == known.moment:
            return True
        found = self.known_of(known.subject, is_bounded=known.is_bounded)
        if not are_as_then(found, known.known_of_it, known.circumstances, opted_in=opted_in):
            return False
        known.moment = moment
        return True

    def known_of(self, subject: Subject | Origin, *, is_bounded: bool) -> KnownOfIt:
        cluster, namespace = self.cluster, subject.namespace
        workload = namespace, subject.owner_kind, subject.owner_name
        return (
            cluster.namespace_labels(namespace),
            cluster.reversed(*workload),
            cluster.unwanted_labels(*workload),
            cluster.resource_bounds(namespace) if is_bounded else UNBOUNDED,
        )


def are_as_then(
    found: KnownOfIt, then: Sequence[object], circumstances: Circumstances, *, opted_in: bool
) -> bool:
    """Whether what was *found* comes to the same *circumstances* as what was known *then*."""
    if are_same(found, then):
        return True
    labels, taken_back, unwanted, bounds = found
    return circumstances == circumstances_of(
        with_opt_in(labels, opted_in=opted_in), taken_back, unwanted, bounds
    )


def seen_labels(
    cluster: KnownCluster, namespace: str, *, opted_in: bool
) -> Mapping[str, str] | None:
    """The labels of *namespace*; None: they are not known. *opted_in*: the server has seen one of them."""
    return with_opt_in(cluster.namespace_labels(namespace), opted_in=opted_in)


def with_opt_in(labels: Mapping[str, str] | None, *, opted_in: bool) -> Mapping[str, str] | None:
    return {**(labels or {}), names.INJECT: "enabled"} if opted_in else labels
