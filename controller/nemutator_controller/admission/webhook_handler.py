"""Answers one admission request: plan, apply to our own copy, check, record, and only then respond.

When anything goes wrong the pod is let in unchanged, with a warning and a counted reason. The one
exception is a pod that says itself that it must not run without us.
"""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.admission.frames import NotSavedError
from nemutator_controller.admission.known_plans import KnownPlan, KnownPlans, Lookups
from nemutator_controller.admission.outcomes import (
    ANSWER_S,
    FailedError,
    Result,
    Rules,
    called,
)
from nemutator_controller.admission.ports import DecisionRecords, KnownCluster
from nemutator_controller.admission.proven_patches import patch_of, too_large
from nemutator_controller.admission.recent_stamps import Origin, RecentStamps, origin_of
from nemutator_controller.admission.recording import DecisionLog
from nemutator_controller.admission.relevance import is_relevant
from nemutator_controller.admission.reviews import (
    MOST_WARNINGS,
    UNCHANGED,
    AdmissionRequest,
    AdmissionResponse,
    ReviewError,
    head_of,
    object_of,
)
from nemutator_controller.admission.subjects import is_mirror, subject_of
from nemutator_controller.admission.template_handler import TemplateHandler
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.image_tokens import may_have_tokens
from nemutator_controller.mutations.known_tokens import PREFIX
from nemutator_controller.mutations.operations import Operation
from nemutator_controller.mutations.paths import PathError
from nemutator_controller.mutations.stamps import (
    Stamp,
    in_full,
    merged,
    stamp_of,
    stamping,
    written,
)
from nemutator_controller.policies.plans import MutationPlan, Situation, plan
from nemutator_controller.policies.snapshot import Policies

log = logging.getLogger(__name__)

_PLACEHOLDER = PREFIX.encode()


@dataclass(frozen=True, slots=True)
class _Change:
    """What is done to a pod, before it is recorded."""

    decision: str
    planned: MutationPlan
    edits: tuple[Edit, ...]
    """With those that were made before another webhook changed the pod."""
    stamp: Stamp | None
    operations: list[Operation]
    durable: bool


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

    def __post_init__(self) -> None:
        templates = TemplateHandler(
            self.cluster, self.records, self.rules, self.fresh, self.process
        )
        object.__setattr__(self, "templates", templates)
        object.__setattr__(self, "decisions", DecisionLog(self.records, self.process))

    async def answer(
        self, request: AdmissionRequest, *, opted_in: bool = False
    ) -> AdmissionResponse:
        """Always returns a response. *opted_in*: the server has seen that the namespace is opted in."""
        began = self.process.clock.monotonic()
        try:
            result, response = await self._answer(request, opted_in=opted_in)
        except FailedError as failed:
            result, response = self._failed(request, failed.reason, str(failed))
        except NotSavedError as error:
            why = f"the change could not be recorded: {error}"
            result, response = self._failed(request, error.reason, why)
        except TimeoutError:
            why = f"the disk took more than {ANSWER_S:g} s"
            result, response = self._failed(request, "late", why)
        except Exception:
            log.exception("admission_failed", {names.REASON: "internal"})
            result, response = self._failed(
                request, "internal", "a defect of nemutator: admission's log has it"
            )
        self.process.meter.count(names.ADMISSIONS, result=result)
        self.process.meter.observe(names.ADMISSION_SECONDS, self.process.clock.monotonic() - began)
        return response

    async def _answer(
        self, request: AdmissionRequest, *, opted_in: bool
    ) -> tuple[Result, AdmissionResponse]:
        if request.workload:
            return await self.templates.answer(request)
        if not request.creates_pod:
            return "unchanged", UNCHANGED
        try:
            head = head_of(request)
        except ReviewError as error:
            raise FailedError("no_object", str(error)) from error
        subject = subject_of(request, head)
        if is_mirror(head) or self.rules.leaves_alone(subject.namespace):
            return "unchanged", UNCHANGED
        policies = self.cluster.policies
        if policies is None:
            raise FailedError("policies_unknown", "no policies have been listed yet")
        policies = policies.at(self.process.clock.now(), self.cluster.in_season)
        self.stamps.hear(self.process.clock.monotonic())
        lookups = Lookups(self.cluster)
        situation = self._situation(subject, request.user, lookups, opted_in=opted_in)
        origin = origin_of(subject, user=request.user, dry_run=bool(request.dry_run))
        if not (
            self._has_placeholder(request)
            or self.stamps.knows(origin)
            or is_relevant(head, situation, policies.for_pods_of(subject.namespace))
        ):
            return "unchanged", UNCHANGED
        try:
            pod = object_of(request)
        except ReviewError as error:
            raise FailedError("bad_object", str(error)) from error
        if why := too_large(pod):
            raise FailedError("too_large", why)
        lost = self.stamps.take(origin, pod, self.process.clock.monotonic())
        key = None if lost is not None else self.plans.key_of(pod, situation, policies)
        known = self.plans.find(key)
        origin_of_plan = "made" if known is None else "known"
        self.process.meter.count(names.ADMISSION_PLANS, origin=origin_of_plan)
        if known is not None:
            return await self._answered(pod, request, subject, origin, self._again(known))
        planned = self._plan(
            pod if lost is None else apply_edits(pod, [stamping((), written(lost))], "Pod"),
            situation,
            policies,
        )
        for offender in planned.offenders:
            self.process.meter.count(names.IMAGE_OFFENDERS, result=offender.result)
        for reason in planned.unpinned:
            self.process.meter.count(names.IMAGES_UNPINNED, reason=reason)
        for why, count in Counter(each.why for each in planned.unresolved).items():
            self.process.meter.count(names.PLACEHOLDERS_UNRESOLVED, count, reason=why)
        if planned.refused:
            log.info("pod_refused", {names.POD: called(subject), names.ERROR: planned.refused})
            return "denied", AdmissionResponse(refused=planned.refused, warnings=planned.warnings)
        if not planned.edits and not planned.previewed and lost is None:
            return "unchanged", AdmissionResponse(warnings=planned.warnings)
        change = self._change(pod, subject, planned, lost)
        if change.stamp is not None and not lookups.any:
            self.plans.keep(key, planned, change.stamp, change.operations)
        return await self._answered(pod, request, subject, origin, change)

    def _has_placeholder(self, request: AdmissionRequest) -> bool:
        """Whether one may stand in the pod, or be meant by an image's name, by the pod's bytes: most pods
        have none, and are not decoded."""
        tokens = self.cluster.tokens
        if tokens is None:
            return False
        content = bytes(request.object)
        return _PLACEHOLDER in content or may_have_tokens(content, tokens)

    def _situation(
        self, subject: Subject, user: str, lookups: Lookups, *, opted_in: bool
    ) -> Situation:
        cluster = self.cluster
        labels = cluster.namespace_labels(subject.namespace)
        if opted_in:
            labels = {**(labels or {}), names.INJECT: "enabled"}
        elif labels is None:
            self.process.meter.count(names.ADMISSION_FAILURES, reason="namespace_unknown")
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
            bounds=cache(partial(cluster.resource_bounds, subject.namespace)),
            reversed=cluster.reversed(subject.namespace, subject.owner_kind, subject.owner_name),
        )

    def _plan(self, pod: Any, situation: Situation, policies: Policies) -> MutationPlan:
        try:
            return plan(pod, situation, policies.for_pods_of(situation.subject.namespace))
        except PathError as error:
            # The server sends what it has decoded itself; a stranger may send anything.
            raise FailedError("bad_object", f"not shaped like a pod: {error}") from error
        except RecursionError as error:
            raise FailedError("bad_object", "it is nested too deeply") from error

    def _change(
        self, pod: Any, subject: Subject, planned: MutationPlan, lost: Stamp | None
    ) -> _Change:
        decision = self.fresh() if planned.edits or lost is None else lost.id
        operations: list[Operation] = []
        edits = planned.edits
        durable = self.rules.strict
        stamp = lost
        if planned.edits:
            stamp = merged(lost or stamp_of(pod, subject.kind), decision, planned.edits, new=True)
            # The server asks again about a pod that another webhook has changed. The pod carries the
            # id of this decision, so taking this one back has to take back all that was done.
            edits = stamp.edits or planned.edits
        if stamp is not None:
            full = in_full(stamp)
            durable = durable or full is None
            operations = patch_of(
                pod, subject.kind, planned.edits, full or written(stamp), planned.writing
            )
        return _Change(decision, planned, edits, stamp, operations, durable)

    def _again(self, known: KnownPlan) -> _Change:
        """The change of a further pod like one that was planned for."""
        decision, edits = self.fresh(), known.planned.edits
        stamp = Stamp(decision, edits)
        operations = known.operations_for(written(stamp))
        return _Change(decision, known.planned, edits, stamp, operations, self.rules.strict)

    async def _answered(
        self, pod: Any, request: AdmissionRequest, subject: Subject, origin: Origin, change: _Change
    ) -> tuple[Result, AdmissionResponse]:
        planned, operations = change.planned, change.operations
        if request.dry_run:
            self._keep_stamp(origin, pod, change.stamp)
            return "dry_run", AdmissionResponse(operations=operations, warnings=planned.warnings)
        record = Decision(
            id=change.decision,
            at=self.process.clock.now(),
            request_uid=request.uid,
            operation=request.operation,
            mode="apply",
            subject=subject,
            edits=change.edits,
            warnings=planned.warnings[:MOST_WARNINGS],
            caller=request.caller,
        )
        await self.decisions.save(
            record, planned.previewed, edited=bool(planned.edits), durable=change.durable
        )
        self._keep_stamp(origin, pod, change.stamp)
        result: Result = "patched" if operations else "preview"
        self.decisions.note(record, planned, result)
        return result, AdmissionResponse(
            operations=operations, warnings=planned.warnings, decision=change.decision
        )

    def _keep_stamp(self, origin: Origin, pod: Any, stamp: Stamp | None) -> None:
        if stamp is not None:
            self.stamps.keep(origin, pod, stamp, self.process.clock.monotonic())

    def _failed(
        self, request: AdmissionRequest, reason: str, why: str
    ) -> tuple[Result, AdmissionResponse]:
        self.process.meter.count(names.ADMISSION_FAILURES, reason=reason)
        log.warning("pod_not_decided", {names.REASON: reason, names.ERROR: why[:200]})
        if self.rules.injector is not None and requires_us(request):
            refused = f"{names.INJECT}=required, and this pod cannot be injected: {why}"
            return "denied", AdmissionResponse(refused=refused)
        return "failed", AdmissionResponse(warnings=(f"pod left as it is: {why}",))


def requires_us(request: AdmissionRequest) -> bool:
    """Whether the pod says itself that it must not run without us."""
    try:
        labels = head_of(request)["metadata"]["labels"]
    except (ReviewError, KeyError, TypeError):
        return False
    return isinstance(labels, dict) and labels.get(names.INJECT) == "required"
