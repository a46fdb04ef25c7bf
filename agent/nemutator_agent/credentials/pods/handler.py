"""Serves the socket of one pod: to that pod, what it declares, as far as Vault allows it."""

from collections.abc import Mapping, Sequence

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.declarations import DeclarationError, Declarations, Reference
from nemutator_common.meters import Meter
from nemutator_common.secret import Secret

from nemutator_agent.credentials.audit import Audit, AuditSubject, Operation, Result, subject_of
from nemutator_agent.credentials.http_refusals import (
    HttpRefusal,
    faulty,
    not_attested,
    of_vault,
    too_large,
    too_many,
    undeclared_in_pod,
)
from nemutator_agent.credentials.pods.responses import VaultSecretResponse, picked
from nemutator_agent.credentials.ports import AttestsPods, ConnectedPeer
from nemutator_agent.credentials.rate_limits import RateLimit
from nemutator_agent.credentials.vault.broker import Broker, Reading
from nemutator_agent.credentials.vault.failures import VaultError, VaultUnavailableError
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.identity.failures import AttestationError

UNATTESTED_RATE = 1.0
UNATTESTED_BURST = 10.0
"""Records of refused callers: who floods one socket must not push others' records out."""

LARGEST_ENVIRONMENT = 256 << 10
"""All values together. A kernel gives a new program hardly more, and one answer would else be as large
as 64 of the largest secrets."""


class PodHandler:
    """A `CallerHandler`, and the `AdmittedCaller` of everybody whom it lets in: they are all the pod."""

    def __init__(
        self,
        session: VaultSession,
        declarations: Declarations | DeclarationError,
        *,
        broker: Broker,
        attestor: AttestsPods,
        audit: Audit,
        node: str,
        auth_mount: str,
        rate: float,
        clock: Clock,
        meter: Meter,
    ) -> None:
        self._session = session
        self._declarations = declarations
        self._broker = broker
        self._attestor = attestor
        self._audit = audit
        self._node = node
        self._auth_mount = auth_mount
        self._clock = clock
        self._meter = meter
        self._pod = session.account.pod
        self._bucket = RateLimit(rate=rate, burst=2 * rate)
        self._unattested = RateLimit(rate=UNATTESTED_RATE, burst=UNATTESTED_BURST)

    # --- the handler ----------------------------------------------------------------------------
    def admit(self, peer: ConnectedPeer) -> "PodHandler":
        now = self._clock.monotonic()
        try:
            self._attestor.admit(peer.facts(), self._pod.uid)
        except AttestationError as refused:
            self._meter.count(names.CREDENTIAL_REFUSALS, step=refused.step)
            if self._unattested.take(now):
                self._audit.record(self._subject, "connect", "denied", reason=refused.step)
            raise not_attested(refused) from None
        # After the identity: nobody else can use up what the pod may ask.
        if not self._bucket.take(now):
            raise self._counted(too_many())
        return self

    # --- the caller -----------------------------------------------------------------------------
    def whoami(self) -> Mapping[str, object]:
        return {
            "namespace": self._pod.namespace,
            "pod": self._pod.name,
            "uid": self._pod.uid,
            "service_account": self._pod.service_account,
            "node": self._node,
        }

    def declared(self) -> Mapping[str, Sequence[str]]:
        wanted = self._understood()
        return {"secrets": sorted(wanted.secrets), "environment": sorted(wanted.environment)}

    async def secret(self, name: str) -> VaultSecretResponse:
        wanted = self._understood()
        reference = wanted.secrets.get(name)
        if reference is None:
            self._audit.record(self._subject, "read", "denied", secret=name, reason="declaration")
            raise self._counted(undeclared_in_pod(name, wanted.secrets))
        reading = await self._read("read", name, reference)
        picked = self._picked("read", name, reference, reading)
        self._granted("read", name, reference, reading)
        return picked

    async def environment(self) -> Mapping[str, Secret]:
        wanted = self._understood().environment
        variables: dict[str, Secret] = {}
        # Each is a reading, with a record of its own.
        self._bucket.spend(max(len(wanted) - 1, 0))
        room = LARGEST_ENVIRONMENT
        for variable, reference in sorted(wanted.items()):
            reading = await self._read("env", variable, reference)
            value = self._picked("env", variable, reference, reading).value
            room -= len(value.reveal().encode())
            if room < 0:
                raise self._counted(too_large(variable, LARGEST_ENVIRONMENT))
            self._granted("env", variable, reference, reading)
            variables[variable] = value
        return variables

    # --- both -----------------------------------------------------------------------------------
    def _understood(self) -> Declarations:
        if isinstance(self._declarations, DeclarationError):
            raise self._counted(faulty(self._declarations))
        return self._declarations

    async def _read(self, operation: Operation, name: str, reference: Reference) -> Reading:
        try:
            return await self._broker.read(self._session, reference.path)
        except VaultError as error:
            outage = error.reason if isinstance(error, VaultUnavailableError) else None
            result: Result = "failed" if outage else "denied"
            self._record(operation, result, name, reference, reason=outage or error.kind)
            raise self._counted(
                of_vault(
                    error,
                    account=self._session.account,
                    path=reference.path,
                    auth_mount=self._auth_mount,
                )
            ) from error

    def _granted(
        self, operation: Operation, name: str, reference: Reference, reading: Reading
    ) -> None:
        self._record(
            operation,
            "granted",
            name,
            reference,
            version=reading.document.version,
            cached=reading.cached,
            reason="stale" if reading.stale else "",
        )

    def _picked(
        self, operation: Operation, name: str, reference: Reference, reading: Reading
    ) -> VaultSecretResponse:
        try:
            return picked(name, reference, reading.document, stale=reading.stale)
        except HttpRefusal as refusal:
            self._record(operation, "denied", name, reference, reason=refusal.step)
            raise self._counted(refusal) from None

    def _record(
        self,
        operation: Operation,
        result: Result,
        name: str,
        reference: Reference,
        *,
        reason: str,
        version: int | None = None,
        cached: bool = False,
    ) -> None:
        self._audit.record(
            self._subject,
            operation,
            result,
            secret=name,
            path=reference.path,
            role=self._session.account.role,
            version=version,
            cached=cached,
            reason=reason,
        )

    def _counted(self, refusal: HttpRefusal) -> HttpRefusal:
        self._meter.count(names.CREDENTIAL_REFUSALS, step=refusal.step)
        return refusal

    @property
    def _subject(self) -> AuditSubject:
        return subject_of(self._pod)
