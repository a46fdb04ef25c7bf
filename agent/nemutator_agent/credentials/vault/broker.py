"""Asks Vault in the name of pods: one token for each account, one call for equal questions."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from http import HTTPStatus
from typing import NamedTuple, TypeVar

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_agent.credentials.audit import Audit
from nemutator_agent.credentials.leases.answers import document_of
from nemutator_agent.credentials.leases.certificates import (
    check_engine,
    without_parameters,
)
from nemutator_agent.credentials.leases.renewing import LeaseRenewals
from nemutator_agent.credentials.ports import Ledger, SharedVault, Vault
from nemutator_agent.credentials.vault.accounts import Account, AccountKey
from nemutator_agent.credentials.vault.cache import (
    DENIAL_S,
    CachedDenial,
    CachedDocument,
    DocumentCache,
    postponed,
)
from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault.engine_reading import EngineReading, EngineReads
from nemutator_agent.credentials.vault.exchanges import VaultAnswer, VaultExchange
from nemutator_agent.credentials.vault.failures import (
    STALE_FOR,
    SecretMissingError,
    TokenGoneError,
    TokenShownError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultError,
    VaultNotAskedError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.orphaned_tokens import OrphanedTokens
from nemutator_agent.credentials.vault.revocations import Revocations
from nemutator_agent.credentials.vault.session_tokens import SessionTokens
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.credentials.vault.single_flight import SingleFlight

T = TypeVar("T")

STALE_WAIT_S = 1.0
"""A reader waits no longer for Vault where memory has an answer; the call goes on, for the next reader."""


class Reading(NamedTuple):
    document: Document
    cached: bool = False
    stale: bool = False
    """It was read before an outage that lasts: Vault could not be asked whether it is still right."""


@dataclass(eq=False, slots=True)
class Broker:
    vault: SharedVault
    audit: Audit
    revocations: Revocations
    orphans: OrphanedTokens
    ledger: Ledger
    process: Process
    _: KW_ONLY
    fresh_s: float
    stale_s: float
    wait_s: float
    """For so long a reader waits for Vault; a login goes on, and the next reader finds its token."""
    drain_s: float
    """For so long it goes on when all else has stopped."""
    _sessions: dict[AccountKey, VaultSession] = field(default_factory=dict, init=False)
    _tokens: SessionTokens = field(init=False)
    _reads: SingleFlight[Document] = field(init=False)
    _mounts: SingleFlight[EngineMount] = field(init=False)
    _leases: LeaseRenewals = field(init=False)
    _engines: EngineReads = field(init=False)
    _cached: Callable[[], object] = field(init=False)

    def __post_init__(self) -> None:
        self._tokens = SessionTokens(
            self.vault,
            self.audit,
            self.revocations,
            self.ledger,
            self.process,
            self._sessions,
            self.drain_s,
        )
        self._reads = SingleFlight("read from Vault", self.process.clock)
        self._mounts = SingleFlight("find a mount", self.process.clock)
        self._cached = self.process.meter.counter(names.CREDENTIAL_READS, result="cached")
        self._engines = EngineReads(self.ledger, self.process)
        self._leases = LeaseRenewals(self, self.audit, self.ledger, self.process, self._sessions)

    # --- pods come and go -----------------------------------------------------------------------
    def open(self, account: Account) -> VaultSession:
        """The session of *account*: the same one for as long as it is open."""
        session = self._sessions.get(account.key)
        if session is None:
            beside = next(
                (
                    one.cache
                    for key, one in self._sessions.items()
                    if key.pod_uid == account.pod.uid
                ),
                None,
            )
            session = VaultSession(account, cache=DocumentCache(beside=beside))
            self._sessions[account.key] = session
            session.held, leases = self.orphans.claim(account)
            session.recovered = {lease.lease_id: lease for lease in leases}
            self._tokens.count()
        return session

    def refresh(self, session: VaultSession, jwt: Secret | None) -> None:
        """Kubelet has brought the pod's token again, perhaps a newer one."""
        if jwt is None or session.jwt == jwt:
            return
        session.jwt = jwt
        session.login_denial = None

    async def log_in(self, session: VaultSession) -> None:
        """Before anybody reads, so that its token is renewed from now on; raises a VaultError."""
        await self._tokens.of(session)

    def release(self, session: VaultSession, lease_id: str) -> None:
        """The pod itself has ended that lease."""
        self.ledger.end_lease(session.release(lease_id))

    def release_at(self, session: VaultSession, path: str) -> None:
        """Nobody needs what is lent at *path*: it is not renewed any more."""
        self.ledger.end_lease(session.release_at(path))

    def close(self, session: VaultSession) -> None:
        """Its pod has ended: forget what it had, and have its token revoked."""
        session.closed = True
        session.jwt = None
        session.cache.close()
        session.release_all()
        self._sessions.pop(session.account.key, None)
        self._tokens.drop(session)
        self._tokens.count()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._tokens.run(), name="tokens")
            tasks.create_task(self._reads.run(), name="reads")
            tasks.create_task(self._mounts.run(), name="mounts")
            tasks.create_task(self._engines.run(), name="engines")
            tasks.create_task(self._leases.run(), name="leases")

    # --- reading --------------------------------------------------------------------------------
    async def read(self, session: VaultSession, path: str) -> Reading:
        """The document at *path*, as the account of *session* may see it; raises a VaultError."""
        at_hand = self.at_hand(session, path)
        if at_hand is not None:
            return self.given(at_hand)
        try:
            denial = session.denials.get(path)
            if denial is not None and self.process.clock.monotonic() < denial.until:
                raise denial.error.again()
            document = await self._asked(session, path, self._patience_s(session, path))
        except VaultError as error:
            # Looked up again: a denial of the same moment has removed it.
            cached = session.cache.get(path)
            if cached is not None and self._may_be_stale(cached, error):
                return self._counted(Reading(cached.document, cached=True, stale=True), "stale")
            self.process.meter.count(names.CREDENTIAL_READS, result=error.kind)
            raise
        return self._counted(Reading(document), "fetched")

    def at_hand(self, session: VaultSession, path: str) -> Reading | None:
        """What `read` would give without asking Vault; it counts once it is `given`."""
        now = self.process.clock.monotonic()
        leased = session.lent(path, now)
        if leased is not None:
            return Reading(leased.document, cached=True)
        cached = session.cache.get(path)
        if cached is None or now - cached.authorised >= self.fresh_s:
            return None
        return Reading(cached.document, cached=True)

    def given(self, at_hand: Reading) -> Reading:
        self._cached()
        return at_hand

    async def read_again(self, session: VaultSession, path: str) -> Document:
        """What Vault has at *path* now, whatever is kept of it; raises a VaultError. What it has lent
        stays the same until that ends: each reading anew would be another one."""
        return self._lent(session, path) or await self.fetch(session, path)

    async def fetch(self, session: VaultSession, path: str) -> Document:
        """Read it anew, and hold what is lent; raises a VaultError."""
        return await self._asked(session, path, self.wait_s)

    def _patience_s(self, session: VaultSession, path: str) -> float:
        """For how long to wait for Vault: less where there is an answer that may be given instead."""
        cached = session.cache.get(path)
        if cached is None or not self._is_young(cached):
            return self.wait_s
        age_s = self._reads.age_s((session.account.key, path))
        return min(self.wait_s, max(STALE_WAIT_S - age_s, 0.0))

    async def _asked(self, session: VaultSession, path: str, wait_s: float) -> Document:
        try:
            return await self._reads.join(
                (session.account.key, path),
                lambda: self._fetch(session, path),
                within_s=wait_s,
            )
        except TimeoutError:
            raise self._too_late(wait_s) from None

    def _too_late(self, wait_s: float) -> VaultUnavailableError:
        return VaultUnavailableError("timeout", f"no answer within {wait_s:g} s")

    def _lent(self, session: VaultSession, path: str) -> Document | None:
        leased = session.lent(path, self.process.clock.monotonic())
        return None if leased is None else leased.document

    async def exchange(
        self, session: VaultSession, asked: VaultExchange, *, may_show_token: bool = False
    ) -> VaultAnswer:
        """As the account of *session*; raises a VaultError."""
        vault = self.vault.of(session.account)

        async def call(token: Secret) -> VaultAnswer:
            answer = await vault.exchange(token, asked)
            await self._check_refusal(session, token, answer)
            if not may_show_token and token.reveal() in answer.body.reveal():
                raise TokenShownError
            return answer

        return await self.ask(session, call)

    async def read_engine(self, session: VaultSession, path: str) -> EngineReading:
        """What is lent at *path*, or what Vault answers, refusals included; raises a VaultError."""
        vault = self.vault.of(session.account)

        async def call(token: Secret) -> EngineReading:
            reading = await self._engines.read(vault, token, session, path)
            await self._check_refusal(session, token, reading.answer)
            return reading

        return await self.ask(session, call)

    async def _check_refusal(
        self, session: VaultSession, token: Secret, answer: VaultAnswer | None
    ) -> None:
        """A refusal is passed on as Vault's answer unless it is the end of the token."""
        is_refusal = answer is not None and answer.status == HTTPStatus.FORBIDDEN
        if is_refusal and await self._tokens.is_gone(session, token):
            raise TokenGoneError("permission denied")

    def _may_be_stale(self, cached: CachedDocument, error: VaultError) -> bool:
        return (
            isinstance(error, VaultUnavailableError)
            and error.reason in STALE_FOR
            and self._is_young(cached)
        )

    def _is_young(self, cached: CachedDocument) -> bool:
        return self.process.clock.monotonic() - cached.authorised < self.stale_s

    def _counted(self, reading: Reading, result: str) -> Reading:
        self.process.meter.count(names.CREDENTIAL_READS, result=result)
        return reading

    async def mount(self, session: VaultSession, path: str) -> EngineMount:
        """The mount of *path*, into which the account may reach; raises a VaultError."""
        known = session.mount_of(path)
        if known is not None:
            return known
        try:
            mount = await self._mounts.join(
                (session.account.key, path),
                lambda: self.ask(
                    session, lambda token: self.vault.of(session.account).mount_of(token, path)
                ),
                within_s=self.wait_s,
            )
        except TimeoutError:
            raise self._too_late(self.wait_s) from None
        if not session.closed:
            session.mounts[mount.path] = mount
        return mount

    async def ask(self, session: VaultSession, call: Callable[[Secret], Awaitable[T]]) -> T:
        """What *call* gives with a token of the account, and once more with a new one where Vault does
        not know the old one any more; raises a VaultError."""
        token = await self._tokens.of(session)
        try:
            return await self._settled(session, token, call)
        except TokenGoneError:
            # It was revoked behind our back, or Vault was restored from a backup: try once more.
            self._tokens.forget(session, token)
        again = await self._tokens.of(session)
        try:
            return await call(again)
        except TokenGoneError:
            self._tokens.forget(session, again)
            raise

    async def _settled(
        self, session: VaultSession, token: Secret, call: Callable[[Secret], Awaitable[T]]
    ) -> T:
        try:
            return await call(token)
        except VaultDeniedError as denial:
            if await self._tokens.is_gone(session, token):
                raise TokenGoneError(denial.why) from None
            raise

    async def _fetch(self, session: VaultSession, path: str) -> Document:
        try:
            return await self.ask(session, lambda token: self._fetch_with(token, session, path))
        except TokenGoneError:
            session.forget(path)
            raise
        except (VaultDeniedError, SecretMissingError, UnsupportedSecretError) as error:
            session.forget(path)
            until = self.process.clock.monotonic() + DENIAL_S
            session.denials.put(path, CachedDenial(error, until))
            raise

    async def _fetch_with(self, token: Secret, session: VaultSession, path: str) -> Document:
        # From before the call: what Vault allows is known to hold then, and not later.
        asked = self.process.clock.monotonic()
        vault = self.vault.of(session.account)
        try:
            mount = session.mount_of(path)
            if mount is None:
                mount = await vault.mount_of(token, without_parameters(path))
            document = await self._read(vault, token, session, mount, path)
        except VaultNotAskedError:
            raise
        except VaultUnavailableError as outage:
            now, roll = self.process.clock.monotonic(), self.process.dice.random()
            before = session.denials.get(path)
            session.denials.put(path, postponed(outage, before, now, roll=roll))
            raise
        session.denials.pop(path, None)
        if session.closed:
            return document
        session.mounts[mount.path] = mount
        if document.lease is None:
            session.cache.put(path, CachedDocument(document, asked))
        return document

    async def _read(
        self, vault: Vault, token: Secret, session: VaultSession, mount: EngineMount, path: str
    ) -> Document:
        check_engine(path, mount)
        if mount.version is not None:
            return await vault.read(token, mount, path)
        if mount.is_reserved:
            why = f"{mount.path} is of kind {mount.kind}, and no engine of secrets"
            raise UnsupportedSecretError(why)
        found = await self._engines.read(vault, token, session, path)
        if found.leased is not None:
            return found.leased.document
        assert found.answer is not None
        return document_of(found.answer, mount)
