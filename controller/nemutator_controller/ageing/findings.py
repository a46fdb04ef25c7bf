"""The newest finding on each workload."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from nemutator_controller.ageing.model import AgeingFinding, Verdict


class Findings:
    """In memory: lists, advice and metrics read them often."""

    def __init__(self) -> None:
        self._by_id: dict[str, AgeingFinding] = {}
        self._growing: Sequence[AgeingFinding] | None = None
        """None: to be found anew."""

    def replace(self, finding: AgeingFinding) -> AgeingFinding:
        """Take *finding* in the place of the one before, and return it with what that one knew."""
        before = self._by_id.get(finding.workload.id)
        taken = follow(before, finding)
        self._by_id[finding.workload.id] = taken
        if taken.grows or (before is not None and before.grows):
            self._growing = None
        return taken

    def restore(self, findings: Sequence[AgeingFinding]) -> None:
        self._by_id = {one.workload.id: one for one in findings}
        self._growing = None

    def find(self, identity: str) -> AgeingFinding | None:
        return self._by_id.get(identity)

    def keep_only(self, identities: frozenset[str]) -> None:
        """Forget workloads of which nothing is stored any more."""
        self._by_id = {key: one for key, one in self._by_id.items() if key in identities}
        self._growing = None

    def growing(self) -> Sequence[AgeingFinding]:
        """Those that grow, in the order of `all`: the same object until one of them is replaced, so that
        who follows them looks at nothing while nothing has changed."""
        if self._growing is None:
            self._growing = _sorted(one for one in self._by_id.values() if one.grows)
        return self._growing

    def verdicts(self) -> Mapping[Verdict, int]:
        """How many there are of each."""
        return Counter(one.verdict for one in self._by_id.values())

    def all(self, namespace: str | None = None) -> Sequence[AgeingFinding]:
        """What grows comes first, the fastest first."""
        return _sorted(
            one for one in self._by_id.values() if namespace in (None, one.workload.namespace)
        )


_ORDER = {"leak": 0, "drift": 1, "hot spot grew": 2, "steady": 3, "cannot tell": 4}


def _sorted(findings: Iterable[AgeingFinding]) -> list[AgeingFinding]:
    return sorted(
        findings,
        key=lambda one: (_ORDER[one.verdict], one.state != "firm", -one.rate_per_min, one.workload),
    )


def follow(before: AgeingFinding | None, now: AgeingFinding) -> AgeingFinding:
    """*now*, with when its verdict was first made; another image begins anew."""
    if before is not None and before.image == now.image:
        first = before.first_seen if before.verdict == now.verdict else None
        now = replace(now, told=before.told or now.told, first_seen=first)
    if now.grows and now.first_seen is None:
        now = replace(now, first_seen=now.looked_at)
    return now if now.grows else replace(now, first_seen=None)
