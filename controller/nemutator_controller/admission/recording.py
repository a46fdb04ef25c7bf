"""Puts a decision on the disk before it is answered, and says in the log what was decided."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec
from nemutator_common import names
from nemutator_common.meters import Counted
from nemutator_common.process import Process
from nemutator_common.repeated_lines import RepeatedLine

from nemutator_controller.admission.outcomes import ANSWER_S, Result, called
from nemutator_controller.admission.ports import DecisionRecords
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.policies.plans import MutationPlan

log = logging.getLogger(__name__)

_POD_DECIDED, _WORKLOAD_DECIDED = (
    RepeatedLine(log, logging.INFO, event, {}) for event in ("pod_decided", "workload_decided")
)


@dataclass(frozen=True, slots=True)
class DecisionLog:
    records: DecisionRecords
    process: Process
    _counts: dict[str, Callable[[], object]] = field(default_factory=dict, init=False)
    """By verb, what counts its edits."""

    async def save(
        self, decision: Decision, previewed: tuple[Edit, ...], *, edited: bool, durable: bool
    ) -> None:
        """Save *decision*, where it has *edited* anything, and what was *previewed* beside it.

        Raises `NotSavedError`, and `TimeoutError` when the disk takes too long.
        """
        if not (edited and durable):
            self.keep(decision, previewed, edited=edited)
            return
        self.keep(decision, previewed, edited=False)
        async with asyncio.timeout(ANSWER_S):
            await self.records.save(msgspec.json.encode(decision), durable=True)

    def keep(self, decision: Decision, previewed: tuple[Edit, ...], *, edited: bool) -> None:
        """The same where nobody waits for the disk."""
        # The preview is saved first: it stays true when the other record cannot be saved.
        if previewed:
            preview = replace(
                decision, id=f"{decision.id}-preview", mode="preview", edits=previewed
            )
            self.records.keep(msgspec.json.encode(preview))
        if edited:
            self.records.keep(msgspec.json.encode(decision))

    def note(self, decision: Decision, planned: MutationPlan, result: Result) -> None:
        """Count the edits and log the decision, once its answer is certain."""
        for edit in planned.edits:
            count = self._counts.get(edit.verb)
            if count is None:
                meter = self.process.meter
                count = self._counts[edit.verb] = meter.counter(
                    names.ADMISSION_EDITS, verb=edit.verb
                )
            count()
        keys = _keys_of(decision.subject, planned, result)
        line = _POD_DECIDED if decision.subject.kind == "Pod" else _WORKLOAD_DECIDED
        line.log_again({**keys, names.DECISION: decision.id})

    def noting(
        self, subject: Subject, planned: MutationPlan, result: Result, *also: Counted
    ) -> Callable[[str], None]:
        """What does the same for the id of each further decision that is the same, and counts *also* what is given."""
        count = self._counting(planned, also)
        keys = _keys_of(subject, planned, result)
        event = (_POD_DECIDED if subject.kind == "Pod" else _WORKLOAD_DECIDED).event
        line = RepeatedLine(log, logging.INFO, event, keys)

        def note(decision: str) -> None:
            count()
            line.log_again({names.DECISION: decision})

        return note

    def noting_pods(
        self, planned: MutationPlan, result: Result, *also: Counted
    ) -> Callable[[str, str], None]:
        """What does the same for each further pod, which is called so, and the id of its decision."""
        count = self._counting(planned, also)
        count_of_edits = len(planned.edits)

        def note(pod: str, decision: str) -> None:
            count()
            _POD_DECIDED.log_again(
                {
                    names.POD: pod,
                    names.RESULT: result,
                    names.COUNT: count_of_edits,
                    names.DECISION: decision,
                }
            )

        return note

    def _counting(self, planned: MutationPlan, also: Sequence[Counted]) -> Callable[[], object]:
        edits = ((names.ADMISSION_EDITS, {"verb": edit.verb}) for edit in planned.edits)
        return self.process.meter.together(*also, *edits)


def _keys_of(subject: Subject, planned: MutationPlan, result: Result) -> Mapping[names.Key, object]:
    return {
        names.POD if subject.kind == "Pod" else names.OBJECT: called(subject),
        names.RESULT: result,
        names.COUNT: len(planned.edits or planned.previewed),
    }
