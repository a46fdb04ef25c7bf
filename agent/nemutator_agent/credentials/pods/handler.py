"""Serves the socket of one pod: to that pod, what it declares, as far as Vault allows it."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.declarations import DeclarationError, Declarations, Reference
from nemutator_common.process import Process
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
from nemutator_agent.publications import PublishedPod

UNATTESTED_RATE = 1.0
UNATTESTED_BURST = 10.0
"""Records of refused callers: who floods one socket must not push others' records out."""

LARGEST_ENVIRONMENT = 256 << 10
"""All values together. A kernel gives a new program hardly more, and one answer would else be as large
as 64 of the largest secrets."""


@dataclass(eq=False, slots=True)
class PodHandler:
    """A `CallerHandler`, and the `AdmittedCaller` of all whom it lets in: they are all the pod."""

    session: VaultSession
    declarations: Declarations | DeclarationError
    process: Process
    _: KW_ONLY
    broker: Broker
    attestor: AttestsPods
    audit: Audit
    node: str
    auth_mount: str
    rate: float
    _unattested: RateLimit = field(
        default_factory=lambda: RateLimit(rate=UNATTESTED_RATE, burst=UNATTESTED_BURST), init=False
    )
    _limit: RateLimit = field(init=False)

    def __post_init__(self) -> None:
        self._limit = RateLimit(rate=self.rate, burst=2 * self.rate)

    # --- the handler ----------------------------------------------------------------------------
    def admit(self, peer: ConnectedPeer) -> "PodHandler":
        now = self.process.clock.monotonic()
        try:
            self.attestor.admit(peer.facts(), self._pod.uid)
        except AttestationError as refused:
            self.process.meter.count(names.CREDENTIAL_REFUSALS, step=refused.step)
            if self._unattested.take(now):
                self.audit.record(self._subject, "connect", "denied", reason=refused.step)
            raise not_attested(refused) from None
        # After the identity: nobody else can use up what the pod may ask.
        if not self._limit.take(now):
            raise self._counted(too_many())
        return self

    # --- the caller -----------------------------------------------------------------------------
    def whoami(self) -> Mapping[str, object]:
        return {
            "namespace": self._pod.namespace,
            "pod": self._pod.name,
            "uid": self._pod.uid,
            "service_account": self._pod.service_account,
            "node": self.node,
        }

    def declared(self) -> Mapping[str, Sequence[str]]:
        wanted = self._understood()
        return {"secrets": sorted(wanted.secrets), "environment": sorted(wanted.environment)}

    async def secret(self, name: str) -> VaultSecretResponse:
        wanted = self._understood()
        reference = wanted.secrets.get(name)
        if reference is None:
            self.audit.record(self._subject, "read", "denied", secret=name, reason="declaration")
            raise self._counted(undeclared_in_pod(name, wanted.secrets))
        reading = await self._read("read", name, reference)
        picked = self._picked("read", name, reference, reading)
        self._granted("read", name, reference, reading)
        return picked

    async def environment(self) -> Mapping[str, Secret]:
        wanted = self._understood().environment
        variables: dict[str, Secret] = {}
        # Each is a reading, with a record of its own.
        self._limit.spend(max(len(wanted) - 1, 0))
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
        if isinstance(self.declarations, DeclarationError):
            raise self._counted(faulty(self.declarations))
        return self.declarations

    async def _read(self, operation: Operation, name: str, reference: Reference) -> Reading:
        try:
            return await self.broker.read(self.session, reference.path)
        except VaultError as error:
            outage = error.reason if isinstance(error, VaultUnavailableError) else None
            result: Result = "failed" if outage else "denied"
            self._record(operation, result, name, reference, reason=outage or error.kind)
            raise self._counted(
                of_vault(
                    error,
                    account=self.session.account,
                    path=reference.path,
                    auth_mount=self.auth_mount,
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
        self.audit.record(
            self._subject,
            operation,
            result,
            secret=name,
            path=reference.path,
            role=self.session.account.role,
            version=version,
            cached=cached,
            reason=reason,
        )

    def _counted(self, refusal: HttpRefusal) -> HttpRefusal:
        self.process.meter.count(names.CREDENTIAL_REFUSALS, step=refusal.step)
        return refusal

    @property
    def _pod(self) -> PublishedPod:
        return self.session.account.pod

    @property
    def _subject(self) -> AuditSubject:
        return subject_of(self._pod)
