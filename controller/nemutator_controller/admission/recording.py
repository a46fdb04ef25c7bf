"""Puts a decision on the disk before it is answered, and says in the log what was decided."""

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, replace

import msgspec
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.admission.outcomes import ANSWER_S, Result, called
from nemutator_controller.admission.ports import DecisionRecords
from nemutator_controller.mutations.decisions import Decision, Edit
from nemutator_controller.policies.plans import MutationPlan

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DecisionLog:
    records: DecisionRecords
    process: Process

    async def save(
        self, decision: Decision, previewed: tuple[Edit, ...], *, edited: bool, durable: bool
    ) -> None:
        """Save *decision*, where it has *edited* anything, and what was *previewed* beside it.

        Raises `NotSavedError`, and `TimeoutError` when the disk takes too long.
        """
        async with asyncio.timeout(ANSWER_S):
            # The preview is saved first: it stays true when the other record cannot be saved.
            if previewed:
                preview = replace(
                    decision, id=f"{decision.id}-preview", mode="preview", edits=previewed
                )
                await self.records.save(msgspec.json.encode(preview), durable=False)
            if edited:
                await self.records.save(msgspec.json.encode(decision), durable=durable)

    def note(self, decision: Decision, planned: MutationPlan, result: Result) -> None:
        """Count the edits and log the decision, once its answer is certain."""
        for verb, count in Counter(edit.verb for edit in planned.edits).items():
            self.process.meter.count(names.ADMISSION_EDITS, count, verb=verb)
        subject = decision.subject
        is_pod = subject.kind == "Pod"
        log.info(
            "pod_decided" if is_pod else "workload_decided",
            {
                names.POD if is_pod else names.OBJECT: called(subject),
                names.RESULT: result,
                names.DECISION: decision.id,
                names.COUNT: len(planned.edits or planned.previewed),
            },
        )
