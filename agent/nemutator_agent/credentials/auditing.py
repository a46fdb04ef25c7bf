"""One record for each thing that was done or refused: for the brain, and as one log line."""

import hashlib
import hmac
import logging
from dataclasses import dataclass
from typing import Literal

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.publications import PublishedPod
from nemutator_common.secret import Secret
from nemutator_common.wire import Grant

from nemutator_agent.credentials.ports import GrantSink

log = logging.getLogger(__name__)

Operation = Literal["login", "renew", "revoke", "read", "env", "whoami", "connect"]
Result = Literal["granted", "denied", "failed"]

DIGEST_HEX = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Whom:
    """A pod, or outside of Kubernetes a caller."""

    namespace: str = ""
    pod: str = ""
    pod_uid: str = ""
    service_account: str = ""
    caller: str = ""


def whom(pod: PublishedPod) -> Whom:
    return Whom(
        namespace=pod.namespace,
        pod=pod.name,
        pod_uid=pod.uid,
        service_account=pod.service_account,
    )


class Audit:
    """Paths are recorded as digests with *key*: equal paths are seen to be equal, and no more."""

    def __init__(self, sink: GrantSink, *, node: str, key: Secret, clock: Clock) -> None:
        self._sink = sink
        self._node = node
        self._key = key.reveal().encode()
        self._clock = clock

    def record(
        self,
        of: Whom,
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
        now = self._clock.now()
        self._sink.put(
            Grant(
                at=now,
                node=self._node,
                namespace=of.namespace,
                pod=of.pod,
                pod_uid=of.pod_uid,
                service_account=of.service_account,
                caller=of.caller,
                operation=operation,
                secret=secret,
                path_digest=self._digest(path) if path else "",
                version=version,
                cached=cached,
                result=result,
                reason=reason,
                role=role,
                expires_at=None if lasts_s is None else now + lasts_s,
            )
        )
        line: dict[names.Key, object] = {
            names.OPERATION: operation,
            names.RESULT: result,
            names.POD: f"{of.namespace}/{of.pod}" if of.pod else of.caller,
            names.POD_UID: of.pod_uid,
            names.SECRET_NAME: secret,
            names.CACHED: cached,
        }
        if reason:
            line[names.REASON] = reason
        log.log(logging.INFO if result == "granted" else logging.WARNING, "grant", line)

    def _digest(self, path: str) -> str:
        return hmac.new(self._key, path.encode(), hashlib.sha256).hexdigest()[:DIGEST_HEX]
