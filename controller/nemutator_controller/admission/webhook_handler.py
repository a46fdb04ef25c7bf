"""Answers one admission request: plan, apply to our own copy, check, record, and only then respond.

When anything goes wrong the pod is let in unchanged, with a warning and a counted reason. The one
exception is a pod that says itself that it must not run without us.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.traces import Span, TraceParent

from nemutator_controller.admission.answering_again import AnsweringAgain, seen_labels
from nemutator_controller.admission.answering_alike import AnsweringAlike
from nemutator_controller.admission.excuses import Excuses
from nemutator_controller.admission.finding_counts import count_findings
from nemutator_controller.admission.known_plans import (
    KnownPlan,
    KnownPlans,
    PlanKey,
    Sized,
    circumstances_of,
)
from nemutator_controller.admission.outcomes import (
    FailedError,
    Result,
    Rules,
    called,
)
from nemutator_controller.admission.pod_changes import (
    DecidedRequest,
    SavedChange,
    change_again,
    change_of,
    record_of,
)
from nemutator_controller.admission.ports import DecisionRecords, KnownCluster
from nemutator_controller.admission.recent_stamps import (
    RecentStamps,
    origin_of,
)
from nemutator_controller.admission.recording import DecisionLog
from nemutator_controller.admission.relevance import is_relevant
from nemutator_controller.admission.request_lookups import AskedBounds, Lookups
from nemutator_controller.admission.review_texts import text_of
from nemutator_controller.admission.reviews import (
    AdmissionRequest,
    AdmissionResponse,
    ReviewError,
    head_of,
    object_of,
)
from nemutator_controller.admission.subjects import is_mirror, subject_of
from nemutator_controller.admission.template_handler import TemplateHandler
from nemutator_controller.kube.patch_texts import patch_text
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.edits import TooLargeError, apply_edits
from nemutator_controller.mutations.image_tokens import may_have_tokens
from nemutator_controller.mutations.known_tokens import PREFIX
from nemutator_controller.mutations.paths import PathError
from nemutator_controller.mutations.resource_bounds import UNBOUNDED
from nemutator_controller.mutations.stamps import (
    stamping,
    written,
)
from nemutator_controller.policies.plans import MutationPlan, Situation, plan
from nemutator_controller.policies.snapshot import Policies

log = logging.getLogger(__name__)

_PLACEHOLDER = PREFIX.encode()


class _LaterError(Exception):
    """This request has to be answered in the way that may wait."""


@dataclass(frozen=True, slots=True)
class WebhookHandler:
    cluster: KnownCluster
    records: DecisionRecords
    rules: Rules
    fresh: Callable[[], str]
    """Makes an id that was never made before."""
    process: Process
    stamps: RecentStamps = field(default_factory=RecentStamps)
    plans: KnownPlans = field(default_factory=KnownPlans)
    templates: TemplateHandler = field(init=False)
    decisions: DecisionLog = field(init=False)
    again: AnsweringAgain = field(init=False)
    alike: AnsweringAlike = field(init=False)
    excuses: Excuses = field(init=False)

    def __post_init__(self) -> None:
        templates = TemplateHandler(
            self.cluster, self.records, self.rules, self.fresh, self.process
        )
        object.__setattr__(self, "templates", templates)
        decisions = DecisionLog(self.records, self.process)
        object.__setattr__(self, "decisions", decisions)
        again = AnsweringAgain(
            self.cluster, self.records, self.fresh, self.process, self.stamps, decisions
        )
        object.__setattr__(self, "again", again)
        object.__setattr__(self, "alike", AnsweringAlike(again, self.plans, self.process))
        object.__setattr__(self, "excuses", Excuses(self.rules, self.process))

    async def answer(
        self,
        request: AdmissionRequest,
        *,
        opted_in: bool = False,
        parent: TraceParent | None = None,
    ) -> AdmissionResponse:
        """Always returns a response. *opted_in*: the server has seen that the namespace is opted in."""
        with self.process.tracer.span(names.DECISION_SPAN, parent) as span:
            traced = _traced(request, span)
            result, response = await self._answered(traced, opted_in=opted_in)
            _note(span, traced, result, response)
        return response

    async def _answered(
        self, request: AdmissionRequest, *, opted_in: bool
    ) -> tuple[Result, AdmissionResponse]:
        began = self.process.clock.monotonic()
        try:
            if request.workload:
                result, response = await self.templates.answer(request)
            else:
                decided = self._decided(request, opted_in=opted_in)
                if (saved := decided.saved) is not None and saved.record is not None:
                    change = saved.change
                    await self.decisions.save(
                        saved.record,
                        change.planned.previewed,
                        edited=bool(change.planned.edits),
                        durable=change.durable,
                    )
                self._remember(decided)
                self._count(decided)
                result, response = decided.result, decided.response
        except Exception as error:  # noqa: BLE001 - whatever it is, the pod is let in
            result, response = self.excuses.of(request, error)
        self._measure(result, self.process.clock.monotonic() - began)
        return result, response

    def answer_at_once(
        self, request: AdmissionRequest, body: bytes = b"", *, opted_in: bool = False
    ) -> tuple[AdmissionResponse, Callable[[], None]] | None:
        """The same for a request that nobody has to wait for, with what counts and logs it once the answer is sent: the
        thread that writes lines may not go before that. None, and nothing has happened, for others.

        *body*: that of the review, by which its answer may be known again.
        """
        if self.rules.strict or request.workload:
            return None
        began = self.process.clock.monotonic()
        decided: DecidedRequest | None = None
        try:
            decided = self._decided(request, opted_in=opted_in, at_once=True)
            if (saved := decided.saved) is not None and saved.record is not None:
                change = saved.change
                self.decisions.keep(
                    saved.record, change.planned.previewed, edited=bool(change.planned.edits)
                )
                text = text_of(body) if saved.known is not None else None
                if text is not None and saved.known is not None:
                    self.again.learn(
                        body, text, saved.pod, saved.known, saved.circumstances, saved.origin,
                        saved.record, opted_in=opted_in,
                    )  # fmt: skip
            self._remember(decided)
            result, response = decided.result, decided.response
        except _LaterError:
            return None
        except Exception as error:  # noqa: BLE001 - as above
            decided = None
            result, response = self.excuses.of(request, error)
        seconds = self.process.clock.monotonic() - began
        return response, partial(self._afterwards, decided, result, seconds, body, opted_in)

    def _afterwards(
        self,
        decided: DecidedRequest | None,
        result: Result,
        seconds: float,
        body: bytes,
        opted_in: bool,
    ) -> None:
        self._measure(result, seconds)
        if decided is None:
            return
        try:
            self._count(decided)
            if (saved := decided.saved) is not None and not decided.namespace_unknown:
                self.alike.learn(body, saved, decided.response, opted_in=opted_in)
        except Exception as error:
            # The pod has its answer already.
            log.error("decision_not_counted", {names.ERROR: type(error).__name__}, exc_info=error)

    def _decided(
        self, request: AdmissionRequest, *, opted_in: bool, at_once: bool = False
    ) -> DecidedRequest:
        """What is to be done; nothing has happened yet but that a stamp was taken that a pod had lost."""
        if not request.creates_pod:
            return DecidedRequest("unchanged")
        try:
            head = head_of(request)
        except ReviewError as error:
            raise FailedError("no_object", str(error)) from error
        subject = subject_of(request, head)
        if is_mirror(head) or self.rules.leaves_alone(subject.namespace):
            return DecidedRequest("unchanged")
        policies = self.cluster.policies
        if policies is None:
            raise FailedError("policies_unknown", "no policies have been listed yet")
        policies = policies.at(self.process.clock.now(), self.cluster.in_season)
        now = self.process.clock.monotonic()
        self.stamps.hear(now)
        lookups = Lookups(self.cluster)
        labels = seen_labels(self.cluster, subject.namespace, opted_in=opted_in)
        unknown = labels is None
        situation = self._situation(subject, request.user, lookups, labels)
        origin = origin_of(subject, user=request.user, dry_run=bool(request.dry_run))
        has_placeholder = self._has_placeholder(request)
        if not (
            has_placeholder
            or self.stamps.knows(origin)
            or is_relevant(head, situation, policies.for_pods_of(subject.namespace))
        ):
            return DecidedRequest("unchanged", namespace_unknown=unknown)
        try:
            pod = object_of(request)
        except ReviewError as error:
            raise FailedError("bad_object", str(error)) from error
        lost = None
        if not at_once:
            lost = self.stamps.take(origin, pod, now)
        elif self.stamps.has_lost_one(origin, pod, now):
            raise _LaterError
        is_bounded = policies.for_pods_of(subject.namespace).write_amounts
        bounds = situation.bounds() if is_bounded else UNBOUNDED
        circumstances = circumstances_of(labels, situation.reversed, situation.unwanted, bounds)
        key = None
        if lost is None:
            key = self.plans.key_of(
                pod, situation, policies, circumstances, has_placeholder=has_placeholder
            )
        known, repeats = self._known(key, pod, situation, policies), False
        if known is not None:
            change = change_again(known, self.fresh(), strict=self.rules.strict)
            patch = patch_text(change.operations)
            repeats = self.plans.repeats(key, subject.generate_name)
        else:
            planned = self._plan(
                pod if lost is None else apply_edits(pod, [stamping((), written(lost))], "Pod"),
                situation,
                policies,
            )
            if planned.refused:
                refused = AdmissionResponse(refused=planned.refused, warnings=planned.warnings)
                return DecidedRequest("denied", refused, subject, planned, unknown)
            if not planned.edits and not planned.previewed and lost is None:
                unchanged = AdmissionResponse(warnings=planned.warnings)
                return DecidedRequest("unchanged", unchanged, subject, planned, unknown)
            decision = self.fresh() if planned.edits or lost is None else lost.id
            change = change_of(pod, planned, decision, lost, strict=self.rules.strict)
            if at_once and change.durable:
                raise _LaterError
            patch = patch_text(change.operations) if change.operations else b""
            if change.stamp is not None and not lookups.any:
                self.plans.keep(
                    key, planned, change.stamp, change.stamp_text, change.operations, patch
                )
                self.plans.repeats(key, subject.generate_name)
        now_s = self.process.clock.now()
        record = None if request.dry_run else record_of(request, subject, change, at=now_s)
        saved = SavedChange(
            pod, origin, change, known if repeats else None, circumstances, record, key, known
        )
        result: Result = "patched" if change.operations else "preview"
        response = AdmissionResponse(
            operations=change.operations,
            patch=patch,
            warnings=change.planned.warnings,
            decision="" if record is None else record.id,
        )
        return DecidedRequest(
            "dry_run" if record is None else result,
            response, subject, change.planned, unknown, saved,
        )  # fmt: skip

    def _known(
        self, key: PlanKey | None, pod: Any, situation: Situation, policies: Policies
    ) -> KnownPlan | None:
        if key is None:
            return None
        sizing = policies.for_pods_of(situation.subject.namespace).unread.sizing
        return self.plans.find(key, Sized(pod["spec"], sizing, situation.bounds()))

    def _remember(self, decided: DecidedRequest) -> None:
        """What another webhook may strip, now that it is certain."""
        saved = decided.saved
        if saved is None or saved.change.stamp is None:
            return
        now, change = self.process.clock.monotonic(), saved.change
        # Without an edit of this time it is the stamp that the pod had lost.
        given_back = not change.planned.edits
        self.stamps.keep(saved.origin, saved.pod, saved.change.stamp, now, given_back=given_back)

    def _count(self, decided: DecidedRequest) -> None:
        """And log it."""
        meter, planned, saved = self.process.meter, decided.planned, decided.saved
        if decided.namespace_unknown:
            meter.count(names.ADMISSION_FAILURES, reason="namespace_unknown")
        if planned is None or decided.subject is None:
            return
        is_again = saved is not None and saved.change.is_again
        meter.count(names.ADMISSION_PLANS, origin="known" if is_again else "made")
        count_findings(planned, meter)
        if planned.refused:
            log.info(
                "pod_refused", {names.POD: called(decided.subject), names.ERROR: planned.refused}
            )
        if saved is not None and saved.record is not None:
            self.decisions.note(saved.record, planned, decided.result)

    def _measure(self, result: Result, seconds: float) -> None:
        self.process.meter.count(names.ADMISSIONS, result=result)
        self.process.meter.observe(names.ADMISSION_SECONDS, seconds)

    def _has_placeholder(self, request: AdmissionRequest) -> bool:
        """Whether one may stand in the pod, or be meant by an image's name, by the pod's bytes: most pods
        have none, and are not decoded."""
        tokens = self.cluster.tokens
        if tokens is None:
            return False
        content = bytes(request.object)
        return _PLACEHOLDER in content or may_have_tokens(content, tokens)

    def _situation(
        self, subject: Subject, user: str, lookups: Lookups, labels: Mapping[str, str] | None
    ) -> Situation:
        cluster = self.cluster
        workload = subject.namespace, subject.owner_kind, subject.owner_name
        return Situation(
            subject=subject,
            namespace_labels=labels,
            user=user,
            injector=self.rules.injector,
            advisor=cluster.advisor,
            tokens=cluster.tokens,
            runtime_handler=lookups.runtime_handler,
            images=cluster.images,
            digests=lookups,
            talkers=cluster.talkers,
            bounds=AskedBounds(cluster, subject.namespace),
            reversed=cluster.reversed(*workload),
            unwanted=cluster.unwanted_labels(*workload),
        )

    def _plan(self, pod: Any, situation: Situation, policies: Policies) -> MutationPlan:
        try:
            return plan(pod, situation, policies.for_pods_of(situation.subject.namespace))
        except PathError as error:
            # The server sends what it has decoded itself; a stranger may send anything.
            raise FailedError("bad_object", f"not shaped like a pod: {error}") from error
        except TooLargeError as error:
            raise FailedError("too_large", str(error)) from error
        except RecursionError as error:
            raise FailedError("bad_object", "it is nested too deeply") from error


def _traced(request: AdmissionRequest, span: Span) -> AdmissionRequest:
    return msgspec.structs.replace(request, trace=span.trace) if span.trace else request


def _note(
    span: Span, request: AdmissionRequest, result: Result, response: AdmissionResponse
) -> None:
    if span.trace:
        span.note(
            result=result,
            namespace=request.namespace or "",
            kind=request.workload or request.resource.resource,
            decision=response.decision,
        )
