"""Serves the socket of one pod: that pod gets what it declares, as far as Vault allows it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import NamedTuple
from weakref import ref

from nemutator_common.declarations import DeclarationError, Declarations, DeclaredFile, Reference
from nemutator_common.on_rotate import ContainerSignal, OnRotate, PodRestart
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_agent.credentials.audit import (
    Audit,
    AuditSubject,
    Operation,
    RepeatedRecord,
    Result,
    subject_of,
)
from nemutator_agent.credentials.files.formats import FormatError, rendered
from nemutator_agent.credentials.http_refusals import (
    HttpRefusal,
    faulty,
    not_rendered,
    of_vault,
    too_large,
    too_many,
    undeclared,
)
from nemutator_agent.credentials.pods.budgets import PodBudget
from nemutator_agent.credentials.pods.followed_secrets import FollowedSecrets
from nemutator_agent.credentials.ports import (
    AttestsPods,
    ConnectedPeer,
    RemembersServed,
    SignalsContainers,
)
from nemutator_agent.credentials.refused_callers import RefusedCallers
from nemutator_agent.credentials.responses import (
    SecretAtHand,
    SecretResponse,
    ShownSecret,
    as_bytes,
    picked,
)
from nemutator_agent.credentials.rotation.watching import ChangeFeed
from nemutator_agent.credentials.signals.signalling import RotationSignals
from nemutator_agent.credentials.vault.broker import Broker, Reading
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.failures import VaultError, VaultUnavailableError
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.credentials.vault_api.answering import PodVaultApi
from nemutator_agent.credentials.vault_api.api_answer import ApiAnswer, Turn
from nemutator_agent.credentials.vault_api.api_request import SentRequest
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.publications import PublishedPod

LARGEST_ENVIRONMENT = 256 << 10
"""Bytes of all values together. A kernel gives a new program hardly more, and without this one answer
could be as large as 64 of the largest secrets."""


class _Asked(NamedTuple):
    operation: Operation
    name: str
    reference: Reference


class _Given:
    """What a name was given out of last. It does not keep the document, which the cache may let go, and what
    was shown of it goes with it."""

    __slots__ = ("document", "record", "shown")

    def __init__(self, document: Document, record: RepeatedRecord) -> None:
        self.record = record.record
        self.shown: dict[bool, ShownSecret] = {}
        self.document = ref(document, partial(_forget, self.shown))


def _forget(shown: dict[bool, ShownSecret], _: object) -> None:
    shown.clear()


@dataclass(eq=False, slots=True)
class PodHandler:
    """A `PodCallerHandler`, and the `AdmittedCaller` for all whom it lets in, because all are the pod."""

    session: VaultSession
    declarations: Declarations | DeclarationError
    process: Process
    _: KW_ONLY
    broker: Broker
    attestor: AttestsPods
    audit: Audit
    node: str
    auth_mount: str
    budget: PodBudget
    """Of the pod with all of its sockets."""
    namespace: str
    """Of Vault, for pods that name none."""
    follow: Callable[[str, FollowedSecrets], None]
    """Looks from time to time whether a path has changed that the pod has read."""
    containers: SignalsContainers
    served: RemembersServed
    changes: ChangeFeed = field(init=False)
    after_rotation: RotationSignals = field(init=False)
    _subject: AuditSubject = field(init=False)
    _followed: FollowedSecrets = field(init=False)
    _refused: RefusedCallers = field(init=False)
    _vault_api: PodVaultApi = field(init=False)
    _secrets: Mapping[str, Reference] = field(init=False)
    """What is declared, but for files of several."""
    _given: dict[str, _Given] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._secrets = _secrets_of(self.declarations)
        self._subject = subject_of(self._pod)
        self.changes = ChangeFeed(self.process.clock)
        self._followed = FollowedSecrets(
            self.session,
            changes=self.changes,
            audit=self.audit,
            served=None if self._on_rotate is None else self.served,
        )
        self.after_rotation = RotationSignals(
            self._pod,
            self._on_rotate if isinstance(self._on_rotate, ContainerSignal) else None,
            self.containers,
            self.process,
            audit=self.audit,
            changes=self._followed,
        )
        self._refused = RefusedCallers(self.process, self.audit, self.budget.records)
        self._vault_api = PodVaultApi(
            self.session,
            self.broker,
            self.process,
            audit=self.audit,
            refused=self._refused,
            auth_mount=self.auth_mount,
            namespace=self.session.account.vault_namespace or self.namespace,
        )

    # --- the handler ----------------------------------------------------------------------------
    def admit(self, peer: ConnectedPeer) -> "PodHandler":
        try:
            self.attestor.admit(peer.facts(program=False), self._pod.uid)
        except AttestationError as error:
            raise self._refused.unattested(self._subject, error) from None
        # After the identity, so that no other caller can use up what the pod may ask.
        if not self.budget.requests.take(self.process.clock.monotonic()):
            raise self._refused.counted(too_many())
        return self

    def secret_at_hand(self, peer: ConnectedPeer, name: str, *, most: int) -> SecretAtHand | None:
        reference = self._secrets.get(name)
        if reference is None:
            return None
        reading = self.broker.at_hand(self.session, reference.path)
        if reading is None or reading.document.size >= most or not _has(reading, reference):
            return None
        try:
            self.attestor.admit(peer.facts(program=False), self._pod.uid)
        except AttestationError:
            return None
        if not self.budget.requests.take(self.process.clock.monotonic()):
            return None
        document = self.broker.given(reading).document
        given = self._given.get(name)
        if given is None or given.document() is not document:
            given = self._given[name] = self._given_first(name, reference, document)
        return SecretAtHand(name, reference, document, given.shown, given.record)

    def _given_first(self, name: str, reference: Reference, document: Document) -> _Given:
        self._follow(_Asked("read", name, reference), Reading(document, cached=True))
        record = self.audit.cached_read(
            self._subject,
            secret=name,
            path=self.session.account.located(reference.path),
            role=self.session.account.role,
            version=document.version,
        )
        return _Given(document, record)

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
        return {"secrets": sorted(_named(wanted)), "environment": sorted(wanted.environment)}

    async def secret(self, name: str) -> SecretResponse:
        wanted = self._understood()
        if name in wanted.files:
            return await self._file(name, wanted.files[name])
        reference = wanted.secrets.get(name)
        if reference is None:
            self.audit.record(self._subject, "read", "denied", secret=name, reason="declaration")
            raise self._refused.counted(undeclared(name, _named(wanted)))
        return await self._secret(name, reference)

    async def _secret(self, name: str, reference: Reference) -> SecretResponse:
        asked = _Asked("read", name, reference)
        return self._give(asked, await self._read(asked))

    def _give(self, asked: _Asked, reading: Reading) -> SecretResponse:
        picked = self._picked(asked, reading)
        self._granted(asked, reading)
        self._follow(asked, reading)
        return picked

    async def _file(self, name: str, file: DeclaredFile) -> SecretResponse:
        # Each is a reading, with a record of its own.
        self.budget.requests.spend(len(file.entries) - 1)
        parts = {key: await self._secret(name, ref) for key, ref in file.entries.items()}
        values = {key: part.value.reveal() for key, part in parts.items()}
        if sum(map(len, values.values())) > LARGEST_ENVIRONMENT:
            raise self._refused.counted(too_large(name, LARGEST_ENVIRONMENT))
        try:
            content = Secret(rendered(file.format, values))
        except FormatError as error:
            raise self._refused.counted(not_rendered(name, str(error))) from None
        # Escapes may make six characters of one.
        if len(content.reveal()) > LARGEST_ENVIRONMENT:
            raise self._refused.counted(too_large(name, LARGEST_ENVIRONMENT))
        return SecretResponse(
            name=name,
            read=lambda: content,
            version=None,
            stale=any(part.stale for part in parts.values()),
        )

    async def environment(self) -> Mapping[str, Secret]:
        wanted = self._understood().environment
        followed = self._followed_environment()
        variables: dict[str, Secret] = {}
        # Each is a reading, with a record of its own.
        self.budget.requests.spend(max(len(wanted) - 1, 0))
        room = LARGEST_ENVIRONMENT
        for variable, reference in sorted(wanted.items()):
            asked = _Asked("env", variable, reference)
            reading = await self._read(asked)
            value = self._picked(asked, reading).value
            room -= len(as_bytes(value.reveal()))
            if room < 0:
                raise self._refused.counted(too_large(variable, LARGEST_ENVIRONMENT))
            self._granted(asked, reading)
            if variable in followed:
                self._follow(asked, reading)
            variables[variable] = value
        return variables

    async def ask_vault(self, sent: SentRequest, turn: Turn) -> ApiAnswer:
        return await self._vault_api.answer(sent, turn)

    async def files(self) -> Mapping[str, Secret]:
        # Each is a reading, with a record of its own.
        self.budget.requests.spend(max(len(_named(self._understood())) - 1, 0))
        return await self.file_values()

    async def file_values(self) -> Mapping[str, Secret]:
        return {
            name: (await self.secret(name)).value for name in sorted(_named(self._understood()))
        }

    async def follow_before(self) -> None:
        before, failed = set(self._followed.before), None
        for asked in self._followable():
            if asked.operation == "env" or (asked.name, str(asked.reference)) in before:
                try:
                    reading = await self.broker.read(self.session, asked.reference.path)
                except VaultError as error:
                    failed = error
                else:
                    # Nobody is given anything, so there is nothing else to record.
                    self._follow(asked, reading)
        if failed is not None:
            raise failed

    def may_watch(self, name: str) -> bool:
        return isinstance(self.declarations, Declarations) and name in _named(self.declarations)

    # --- both -----------------------------------------------------------------------------------
    def _follow(self, asked: _Asked, reading: Reading) -> None:
        if self._followed.read(asked.name, asked.reference, reading.document):
            self.follow(asked.reference.path, self._followed)

    def _followed_environment(self) -> Mapping[str, Reference]:
        """A process keeps the variables that it was started with: only to a new pod a change means anything."""
        is_followed = isinstance(self._on_rotate, PodRestart)
        return self._understood().environment if is_followed else {}

    def _followable(self) -> Iterator[_Asked]:
        wanted = self.declarations
        if isinstance(wanted, DeclarationError):
            return
        for variable, reference in sorted(self._followed_environment().items()):
            yield _Asked("env", variable, reference)
        for name, reference in wanted.secrets.items():
            yield _Asked("read", name, reference)
        for name, file in wanted.files.items():
            for reference in file.entries.values():
                yield _Asked("read", name, reference)

    @property
    def file_owner(self) -> int | None:
        declared = self.declarations
        return declared.run_as_user if isinstance(declared, Declarations) else None

    @property
    def _on_rotate(self) -> OnRotate | None:
        declared = self.declarations
        return declared.on_rotate if isinstance(declared, Declarations) else None

    def _understood(self) -> Declarations:
        if isinstance(self.declarations, DeclarationError):
            raise self._refused.counted(faulty(self.declarations))
        return self.declarations

    async def _read(self, asked: _Asked) -> Reading:
        path = asked.reference.path
        try:
            return await self.broker.read(self.session, path)
        except VaultError as error:
            outage = error.reason if isinstance(error, VaultUnavailableError) else None
            self._record(asked, "failed" if outage else "denied", reason=outage or error.kind)
            raise self._refused.counted(
                of_vault(error, account=self.session.account, path=path, auth_mount=self.auth_mount)
            ) from error

    def _picked(self, asked: _Asked, reading: Reading) -> SecretResponse:
        try:
            return picked(asked.name, asked.reference, reading.document, stale=reading.stale)
        except HttpRefusal as refusal:
            self._record(asked, "denied", reason=refusal.step)
            raise self._refused.counted(refusal) from None

    def _granted(self, asked: _Asked, reading: Reading) -> None:
        self._record(asked, "granted", reason="stale" if reading.stale else "", of=reading)

    def _record(
        self, asked: _Asked, result: Result, *, reason: str, of: Reading | None = None
    ) -> None:
        self.audit.record(
            self._subject,
            asked.operation,
            result,
            secret=asked.name,
            path=self.session.account.located(asked.reference.path),
            role=self.session.account.role,
            version=of.document.version if of else None,
            cached=of.cached if of else False,
            reason=reason,
        )

    @property
    def _pod(self) -> PublishedPod:
        return self.session.account.pod


def _secrets_of(wanted: Declarations | DeclarationError) -> Mapping[str, Reference]:
    if isinstance(wanted, DeclarationError):
        return {}
    return {name: ref for name, ref in wanted.secrets.items() if name not in wanted.files}


def _has(reading: Reading, reference: Reference) -> bool:
    return reference.key is None or reading.document.value(reference.key) is not None


def _named(declared: Declarations) -> Collection[str]:
    """What can be asked for by its name."""
    return declared.secrets.keys() | declared.files.keys()
