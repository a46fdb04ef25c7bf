"""What stands on the pods of workloads that grow."""

from collections.abc import Mapping, Sequence

from nemutator_controller.ageing.model import AgeingFinding
from nemutator_controller.ageing.sentences import sentence

SAME_RATE = 0.25
"""A rate that has moved by less is no other mark: each look finds a slightly different one."""

MOST_OF_A_POD = 4
"""Workloads that one pod is marked for: one for each of its programs that grow."""


class NotMarkedError(Exception):
    """A pod could not be written to."""


class Sentences:
    """What is written of each finding: the same for as long as it says the same."""

    def __init__(self) -> None:
        self._written: Mapping[str, tuple[AgeingFinding, str]] = {}
        self._latest: tuple[Sequence[AgeingFinding], Mapping[str, str]] = (), {}

    def of(self, growing: Sequence[AgeingFinding]) -> Mapping[str, str]:
        """By the uid of each pod that was read, what is to stand there, in the order of what grows.

        Asked again with the same object, it has nothing to do.
        """
        findings, marks = self._latest
        if growing is not findings:
            marks = self._marks(growing)
            self._latest = growing, marks
        return marks

    def _marks(self, growing: Sequence[AgeingFinding]) -> Mapping[str, str]:
        self._written = {one.workload.id: self._kept(one) for one in growing}
        found: dict[str, list[str]] = {}
        for one in growing:
            for uid in {each.pod_uid for each in one.replicas if each.pod_uid is not None}:
                found.setdefault(uid, []).append(self._written[one.workload.id][1])
        return {uid: "; ".join(notes[:MOST_OF_A_POD]) for uid, notes in found.items()}

    def _kept(self, finding: AgeingFinding) -> tuple[AgeingFinding, str]:
        before = self._written.get(finding.workload.id)
        if before is not None and _is_same(before[0], finding):
            return before
        return finding, sentence(finding)


def _is_same(before: AgeingFinding, now: AgeingFinding) -> bool:
    rate = before.rate_per_min
    return _subject(before) == _subject(now) and abs(now.rate_per_min - rate) <= SAME_RATE * abs(
        rate
    )


def _subject(finding: AgeingFinding) -> object:
    ids = [one.id for one in finding.sites] + [one.id for one in finding.functions]
    return finding.image, finding.verdict, finding.state, finding.measure, ids[:1]
