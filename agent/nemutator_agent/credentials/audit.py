"""A record of each grant and each denial: for the brain, and as one log line."""

import logging
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache, partial
from typing import Literal, TypeAlias

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.path_digests import path_digest
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

    def __post_init__(self) -> None:
        self._digest = lru_cache(MOST_DIGESTS)(partial(path_digest, self.key))

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
        now = self.clock.now()
        grant = Grant(
            at=now,
            node=self.node,
            namespace=fit(of.namespace),
            pod=fit(of.pod),
            pod_uid=fit(of.pod_uid),
            service_account=fit(of.service_account),
            caller=fit(of.caller),
            operation=operation,
            secret=fit(secret),
            # What a certificate was issued for is no part of where it comes from.
            path_digest=self._digest(path.partition("?")[0]) if path else "",
            version=version,
            cached=cached,
            result=result,
            reason=fit(reason),
            role=fit(role),
            expires_at=None if lasts_s is None else now + lasts_s,
        )
        self.sink.put(grant)
        line: dict[names.Key, object] = {
            names.OPERATION: operation,
            names.RESULT: result,
            names.POD: f"{grant.namespace}/{grant.pod}" if grant.pod else grant.caller,
            names.POD_UID: grant.pod_uid,
            names.SECRET_NAME: grant.secret,
            names.CACHED: cached,
        }
        if reason:
            line[names.REASON] = grant.reason
        log.log(logging.INFO if result == "granted" else logging.WARNING, "grant", line)
