"""A record of each grant and each denial: for the brain, and as one log line."""

import logging
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache, partial
from typing import Literal, NamedTuple, TypeAlias

import msgspec
from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.path_digests import path_digest
from nemutator_common.repeated_lines import RepeatedLine
from nemutator_common.secret import Secret
from nemutator_common.wire import Grant, GrantOperation

from nemutator_agent.credentials.audit_texts import fit
from nemutator_agent.credentials.ports import GrantSink
from nemutator_agent.publications import PublishedPod

log = logging.getLogger(__name__)

Operation: TypeAlias = GrantOperation
Result = Literal["granted", "denied", "failed"]

MOST_DIGESTS = 4096
"""Paths whose digests are remembered, those that were read last: a node reads the same ones on and on."""

MOST_REPEATED = 2048
MOST_KEPT = 512
"""Records of which all but the time is kept, those that were made last; and the characters that callers
choose of one of them: some 4 MiB at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSubject:
    """The pod, or outside of Kubernetes the caller, that a record is about."""

    namespace: str = ""
    pod: str = ""
    pod_uid: str = ""
    service_account: str = ""
    caller: str = ""


AGENT = "nemutator-agent"
"""The caller in records of what the agent does for all callers of a machine without pods."""


def subject_of(pod: PublishedPod) -> AuditSubject:
    return AuditSubject(
        caller="" if pod.uid else AGENT,
        namespace=pod.namespace,
        pod=pod.name,
        pod_uid=pod.uid,
        service_account=pod.service_account,
    )


class _Of(NamedTuple):
    """All of a record but its times."""

    subject: AuditSubject
    operation: Operation
    result: Result
    secret: str
    path: str
    role: str
    reason: str
    version: int | None
    cached: bool


class RepeatedRecord:
    """A record that is made again and again, of which all but the time is known."""

    __slots__ = ("_audit", "_behind", "_line", "_source")

    def __init__(self, audit: "Audit", grant: Grant) -> None:
        self._audit = audit
        self._behind = msgspec.json.encode(grant).removeprefix(_UNTIMED)
        self._source = grant.pod_uid or grant.caller
        self._line = _line(grant)

    def record(self) -> None:
        audit = self._audit
        audit.sink.put_encoded(
            b'{"at":%b%b' % (repr(audit.clock.now()).encode(), self._behind), source=self._source
        )
        self._line.log_again()


_UNTIMED = b'{"at":0.0'


@dataclass(eq=False, slots=True)
class Audit:
    """Records paths as digests with *key*, which show that two paths are equal, and no more.

    Callers choose most texts. All are made fit here, in one place: a record that the brain refuses
    would be lost, while the secret was given.
    """

    sink: GrantSink
    clock: Clock
    _: KW_ONLY
    node: str
    key: Secret
    _digest: Callable[[str], str] = field(init=False)
    _repeated: Callable[[_Of], RepeatedRecord] = field(init=False)

    def __post_init__(self) -> None:
        self._digest = lru_cache(MOST_DIGESTS)(partial(path_digest, self.key))
        self._repeated = lru_cache(MOST_REPEATED)(self._made)

    def record(
        self,
        of: AuditSubject,
        operation: Operation,
        result: Result,
        *,
        # what was wanted
        secret: str = "",
        path: str = "",
        role: str = "",
        # how it went
        reason: str = "",
        version: int | None = None,
        cached: bool = False,
        lasts_s: float | None = None,
    ) -> None:
        made = _Of(of, operation, result, secret, path, role, reason, version, cached)
        if lasts_s is None and len(of.caller) + len(secret) + len(path) <= MOST_KEPT:
            self._repeated(made).record()
            return
        now = self.clock.now()
        grant = self._grant(made, now, None if lasts_s is None else now + lasts_s)
        self.sink.put(grant)
        _line(grant).log_again()

    def cached_read(
        self, of: AuditSubject, *, secret: str, path: str, role: str, version: int | None
    ) -> RepeatedRecord:
        """What `record` would make of each reading of *secret* from memory, for who keeps it."""
        return self._made(_Of(of, "read", "granted", secret, path, role, "", version, cached=True))

    def _made(self, of: _Of) -> RepeatedRecord:
        return RepeatedRecord(self, self._grant(of, 0.0, None))

    def _grant(self, made: _Of, at: float, expires_at: float | None) -> Grant:
        of = made.subject
        return Grant(
            at=at,
            node=self.node,
            namespace=fit(of.namespace),
            pod=fit(of.pod),
            pod_uid=fit(of.pod_uid),
            service_account=fit(of.service_account),
            caller=fit(of.caller),
            operation=made.operation,
            secret=fit(made.secret),
            # What a certificate was issued for is no part of where it comes from.
            path_digest=self._digest(made.path.partition("?")[0]) if made.path else "",
            version=made.version,
            cached=made.cached,
            result=made.result,
            reason=fit(made.reason),
            role=fit(made.role),
            expires_at=expires_at,
        )


def _line(grant: Grant) -> RepeatedLine:
    line: dict[names.Key, object] = {
        names.OPERATION: grant.operation,
        names.RESULT: grant.result,
        names.POD: f"{grant.namespace}/{grant.pod}" if grant.pod else grant.caller,
        names.POD_UID: grant.pod_uid,
        names.SECRET_NAME: grant.secret,
        names.CACHED: grant.cached,
    }
    if grant.reason:
        line[names.REASON] = grant.reason
    level = logging.INFO if grant.result == "granted" else logging.WARNING
    return RepeatedLine(log, level, "grant", line)
