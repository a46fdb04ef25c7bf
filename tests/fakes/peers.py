"""Who calls a socket of the credentials process, and who listens to its audit."""

import msgspec
from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.identity.failures import AttestationError, Step
from nemutator_agent.publications import PublishedPod
from nemutator_common.wire import Grant

POD = PublishedPod(namespace="shop", name="api-1", uid="u-1", service_account="api")
OTHER_POD = PublishedPod(namespace="bank", name="web-1", uid="u-2", service_account="web")


def facts(cgroup: str = "", *, executable: str | None = "/usr/bin/app") -> ProcessFacts:
    return ProcessFacts(cgroup=cgroup, started_ticks=1, executable=executable)


class Caller:
    """A process; its cgroup is simply the uid of its pod."""

    def __init__(self, pod_uid: str = POD.uid, *, uid: int = 1000) -> None:
        self.uid = uid
        self.pod_uid = pod_uid
        self.refused: Step | None = None
        self.executable: str | None = "/usr/bin/app"

    def facts(self, *, program: bool = True) -> ProcessFacts:
        if self.refused is not None:
            raise AttestationError(self.refused, "as the test wants it")
        return facts(self.pod_uid, executable=self.executable)


class TrustingAttestor:
    """Believes `Caller`s."""

    def admit(self, facts: ProcessFacts, pod_uid: str) -> None:
        if facts.cgroup != pod_uid:
            raise AttestationError("other pod", f"the caller is in {facts.cgroup}")


class RecordedGrants:
    """A `GrantSink` whose records a test reads."""

    def __init__(self) -> None:
        self.all: list[Grant] = []

    def put(self, grant: Grant) -> None:
        self.all.append(grant)

    def put_encoded(self, record: bytes, *, source: str) -> None:
        grant = msgspec.json.decode(record, type=Grant)
        assert source == (grant.pod_uid or grant.caller)
        self.all.append(grant)

    def of(self, operation: str) -> list[str]:
        """How those of one kind ended, in their order."""
        return [grant.result for grant in self.all if grant.operation == operation]
