"""Answers a request about a workload: the same planner, for the template that its pods are made from.

Only policies that say `applyTo: template` are followed here. An update that leaves the template alone is
left alone, too: a policy that is new rolls no pods by itself. One that takes our stamp away, and leaves what
we have written, gets the stamp back: without it a share would be taken of a share.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec import structs
from nemutator_common import names
from nemutator_common.admission_snapshots import IN_TEMPLATE
from nemutator_common.process import Process

from nemutator_controller.admission.finding_counts import count_findings
from nemutator_controller.admission.outcomes import FailedError, Result, Rules, called
from nemutator_controller.admission.ports import DecisionRecords, KnownCluster
from nemutator_controller.admission.proven_patches import patch_of
from nemutator_controller.admission.recording import DecisionLog
from nemutator_controller.admission.reviews import (
    MOST_WARNINGS,
    UNCHANGED,
    AdmissionRequest,
    AdmissionResponse,
    ReviewError,
    head_of,
    object_of,
    old_object_of,
)
from nemutator_controller.admission.subjects import is_made_by_workload, workload_subject
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.mutations.edits import TooLargeError, apply_edits, same
from nemutator_controller.mutations.paths import Json, PathError, template_of
from nemutator_controller.mutations.stamps import (
    Stamp,
    in_full,
    merged,
    stamp_of,
    stamp_text,
    stamping,
    written,
)
from nemutator_controller.policies.plans import MutationPlan, Situation, plan

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TemplateHandler:
    cluster: KnownCluster
    records: DecisionRecords
    rules: Rules
    fresh: Callable[[], str]
    process: Process

    async def answer(self, request: AdmissionRequest) -> tuple[Result, AdmissionResponse]:
        """Raises `FailedError`, `NotSavedError`, and `TimeoutError` when the disk takes too long."""
        try:
            head = head_of(request)
        except ReviewError as error:
            raise FailedError("no_object", str(error)) from error
        subject = workload_subject(request, head)
        if self.rules.leaves_alone(subject.namespace) or is_made_by_workload(head):
            return "unchanged", UNCHANGED
        policies = self.cluster.policies
        if policies is None:
            raise FailedError("policies_unknown", "no policies have been listed yet")
        policies = policies.at(self.process.clock.now(), self.cluster.in_season)
        if not policies.for_templates:
            return "unchanged", UNCHANGED
        try:
            manifest, old = object_of(request), old_object_of(request)
            before = None if old is None else stamp_of(old, subject.kind)
            stripped = _stripped(manifest, before, subject.kind)
            if old is not None and same(
                *(template_of(each, subject.kind) for each in (manifest, old))
            ):
                return _given_back(manifest, subject.kind, stripped)
            situation = self._situation(subject, request, old)
            planned = plan(
                _with(stripped, manifest, subject.kind), situation, policies.for_templates
            )
        except ReviewError as error:
            raise FailedError("bad_object", str(error)) from error
        except PathError as error:
            raise FailedError("bad_object", f"not shaped like its kind: {error}") from error
        except TooLargeError as error:
            raise FailedError("too_large", str(error)) from error
        except RecursionError as error:
            raise FailedError("bad_object", "it is nested too deeply") from error
        count_findings(planned, self.process.meter)
        if planned.refused:
            log.info(
                "workload_refused", {names.OBJECT: called(subject), names.ERROR: planned.refused}
            )
            return "denied", AdmissionResponse(refused=planned.refused, warnings=planned.warnings)
        if not planned.edits and not planned.previewed:
            return _given_back(manifest, subject.kind, stripped, warnings=planned.warnings)
        stamps = _Stamps(before, stripped or stamp_of(manifest, subject.kind))
        return await self._changed(manifest, stamps, request, subject, planned)

    def _situation(self, subject: Subject, request: AdmissionRequest, old: Json) -> Situation:
        # Injection and placeholders are for pods: a template does not know their volumes yet.
        return Situation(
            subject=subject,
            namespace_labels=self.cluster.namespace_labels(subject.namespace),
            existing=old,
            user=request.user,
            advisor=self.cluster.advisor,
            selector_tokens=self.cluster.tokens,
            digests=self.cluster.digests,
            bounds=partial(self.cluster.resource_bounds, subject.namespace),
            reversed=frozenset(
                path.removeprefix(IN_TEMPLATE)
                for path in self.cluster.reversed(subject.namespace, subject.kind, subject.name)
                if path.startswith(IN_TEMPLATE)
            ),
        )

    async def _changed(
        self,
        manifest: Json,
        stamps: "_Stamps",
        request: AdmissionRequest,
        subject: Subject,
        planned: MutationPlan,
    ) -> tuple[Result, AdmissionResponse]:
        kind, decision = subject.kind, self.fresh()
        operations: list[dict[str, Any]] = []
        stamp: Stamp | None = None
        durable = self.rules.strict
        is_new = bool(planned.edits)
        if planned.edits:
            stamp = merged(stamps.now, decision, planned.edits, new=request.operation == "CREATE")
            before = stamps.before
            # Who applies a manifest again takes our values away, and gets them again: that is no new
            # decision, and the object stays the very same.
            if before is not None and before.edits and _as_stamped(stamp) == before.edits:
                stamp, decision, is_new = before, before.id, False
            full = in_full(stamp)
            durable = durable or full is None
            operations = patch_of(
                manifest, kind, planned.edits, full or written(stamp), planned.writing
            )
        answer = AdmissionResponse(
            operations=operations, warnings=planned.warnings, decision=decision
        )
        if request.dry_run:
            return "dry_run", structs.replace(answer, decision="")
        record = Decision(
            id=decision,
            at=self.process.clock.now(),
            request_uid=request.uid,
            operation=request.operation,
            mode="apply",
            subject=subject,
            edits=(stamp and stamp.edits) or planned.edits,
            warnings=planned.warnings[:MOST_WARNINGS],
            trace=request.trace,
            caller=request.caller,
        )
        result: Result = "patched" if operations else "preview"
        decisions = DecisionLog(self.records, self.process)
        await decisions.save(record, planned.previewed, edited=is_new, durable=durable)
        decisions.note(record, planned, result)
        return result, answer


@dataclass(frozen=True, slots=True)
class _Stamps:
    before: Stamp | None
    """Of the object that there is."""
    now: Stamp | None
    """Of the object as it is to be, which may have lost its own."""


def _stripped(manifest: Json, before: Stamp | None, kind: str) -> Stamp | None:
    """The stamp that an update has taken from *manifest*, of the fields that still have our values."""
    if before is None or stamp_text(manifest, kind):
        return None
    return before.of_what_stands(manifest, kind)


def _with(stamp: Stamp | None, manifest: Json, kind: str) -> Json:
    if stamp is None:
        return manifest
    return apply_edits(manifest, [stamping((), written(stamp), kind=kind)], kind)


def _given_back(
    manifest: Json, kind: str, stripped: Stamp | None, *, warnings: tuple[str, ...] = ()
) -> tuple[Result, AdmissionResponse]:
    """The answer to an update of which nothing else is to be said."""
    if stripped is None:
        return "unchanged", AdmissionResponse(warnings=warnings) if warnings else UNCHANGED
    operations = patch_of(manifest, kind, (), written(stripped))
    return "patched", AdmissionResponse(operations=operations, warnings=warnings)


def _as_stamped(stamp: Stamp) -> tuple[Edit, ...]:
    """The edits of *stamp* as they are read from its text, which has no room for reasons."""
    return tuple(structs.replace(edit, reason="") for edit in stamp.edits or ())
