"""Renews what Vault has lent to pods, and reads another one before it ends."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Protocol

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_agent.credentials.audit import Audit, Result, subject_of
from nemutator_agent.credentials.leases import states
from nemutator_agent.credentials.leases.answers import lease_of
from nemutator_agent.credentials.leases.certificates import is_issued
from nemutator_agent.credentials.leases.kept_documents import keeping
from nemutator_agent.credentials.leases.leased_documents import LeasedDocument, RecoveredLease
from nemutator_agent.credentials.leases.states import LeaseState
from nemutator_agent.credentials.ports import Ledger
from nemutator_agent.credentials.vault.accounts import AccountKey
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.exchanges import VaultAnswer, VaultExchange
from nemutator_agent.credentials.vault.failures import VaultError, VaultUnavailableError
from nemutator_agent.credentials.vault.sessions import VaultSession

POLL_S = 2.0
AT_ONCE = 4
RENEW = "sys/leases/renew"
_UNKNOWN = ("lease not found", "invalid lease")


class AsksVault(Protocol):
    """As the account of a session. Each method raises a VaultError."""

    async def exchange(self, session: VaultSession, asked: VaultExchange) -> VaultAnswer: ...

    async def fetch(self, session: VaultSession, path: str) -> Document:
        """Read it anew, and hold what is lent."""
        ...


@dataclass(eq=False, slots=True)
class LeaseRenewals:
    vault: AsksVault
    audit: Audit
    ledger: Ledger
    process: Process
    sessions: Mapping[AccountKey, VaultSession]
    """Those that are open, which others open and close."""

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(POLL_S)
            due = [*self._due()]
            for first in range(0, len(due), AT_ONCE):
                async with asyncio.TaskGroup() as tasks:
                    for act in due[first : first + AT_ONCE]:
                        tasks.create_task(act(), name="renew a lease")
            held = sum(len(one.leased) + len(one.recovered) for one in self.sessions.values())
            self.process.meter.gauge(names.LEASED_SECRETS, held)

    def _due(self) -> Iterator[Callable[[], Coroutine[None, None, None]]]:
        now = self._now()
        for session in self.sessions.values():
            for path, leased in session.leased.items():
                if leased.holding.is_due(now) or session.is_superseded(leased):
                    yield partial(self._act, session, path, leased)
                elif leased.entry and not leased.kept and not is_issued(path):
                    yield partial(self._keep, session, path, leased)
            for lease in session.recovered.values():
                if lease.holding.is_due(now) or session.is_superseded(lease):
                    yield partial(self._go_on, session, lease)

    async def _go_on(self, session: VaultSession, lease: RecoveredLease) -> None:
        if session.recovered.get(lease.lease_id) is not lease:
            return
        is_superseded = session.is_superseded(lease)
        if not is_superseded and lease.holding.state is LeaseState.GRANTED:
            await self._renew(session, lease.path, lease)
        if session.recovered.get(lease.lease_id) is not lease:
            return
        if is_superseded or lease.holding.is_due(self._now()):
            session.recovered.pop(lease.lease_id, None)
            self.ledger.end_lease(lease.entry)

    async def _keep(self, session: VaultSession, path: str, leased: LeasedDocument) -> None:
        """For the next run of this process. The pod has it already: nobody waits for this."""
        asked = keeping(path, leased)
        result = "too_large" if asked is None else await self._kept(session, asked)
        if result:
            leased.kept = True
            self.process.meter.count(names.KEPT_LEASES, result=result)

    async def _kept(self, session: VaultSession, asked: VaultExchange) -> str:
        """Whether Vault keeps it; empty while it cannot be asked."""
        try:
            answer = await self.vault.exchange(session, asked)
        except VaultUnavailableError:
            return ""
        except VaultError:
            return "denied"
        if answer.status in _AWAY:
            return ""
        return "kept" if answer.status < HTTPStatus.BAD_REQUEST else "denied"

    async def _act(self, session: VaultSession, path: str, leased: LeasedDocument) -> None:
        if session.closed or session.leased.get(path) is not leased:
            return
        if session.is_superseded(leased):
            leased.holding = states.superseded(leased.holding, self._now())
        elif leased.holding.state is LeaseState.GRANTED:
            await self._renew(session, path, leased)
        if leased.holding.is_due(self._now()):
            await self._replace(session, path, leased)

    async def _renew(
        self, session: VaultSession, path: str, leased: LeasedDocument | RecoveredLease
    ) -> None:
        given = leased.holding.given
        assert given is not None
        leased.holding = states.renewing(leased.holding)
        body = Secret(json.dumps({"lease_id": given.id, "increment": int(given.ttl_s)}))
        since = self._now()
        try:
            answer = await self.vault.exchange(
                session, VaultExchange(method="PUT", path=RENEW, body=body)
            )
        except VaultError as error:
            leased.holding = states.unanswered(leased.holding, self._now())
            self._record(session, path, "failed", error.kind)
            return
        if leased.holding.state is LeaseState.REVOKED:
            return
        again = lease_of(answer.document)
        if answer.status < HTTPStatus.BAD_REQUEST and again is not None:
            roll = self.process.dice.random()
            leased.holding = states.renewed(leased.holding, again, since, roll=roll)
            self.ledger.renew_lease(leased.entry, leased.holding)
            self._record(session, path, "granted", "renewed", again.ttl_s)
        elif answer.status in _AWAY:
            leased.holding = states.unanswered(leased.holding, self._now())
            self._record(session, path, "failed", "unavailable")
        elif _is_unknown(answer):
            leased.holding = states.lost(leased.holding, self._now())
            self._record(session, path, "denied", "lost")
        else:
            leased.holding = states.refused(leased.holding, self._now())
            self._record(session, path, "denied", "not renewed")

    async def _replace(self, session: VaultSession, path: str, leased: LeasedDocument) -> None:
        """Read another one. The old one stays good until its end, for who still uses it."""
        try:
            await self.vault.fetch(session, path)
        except VaultError as error:
            leased.holding = states.unanswered(leased.holding, self._now())
            self._record(session, path, "failed", error.kind)
            is_denied = not isinstance(error, VaultUnavailableError)
            ended = not leased.holding.usable(self._now())
            if is_denied and ended and session.leased.get(path) is leased:
                # Its next reader is told why there is no other.
                del session.leased[path]
                self.ledger.end_lease(leased.entry)
            return
        self._record(session, path, "granted", "replaced")

    def _now(self) -> float:
        return self.process.clock.monotonic()

    def _record(
        self,
        session: VaultSession,
        path: str,
        result: Result,
        reason: str,
        lasts_s: float | None = None,
    ) -> None:
        account = session.account
        self.audit.record(
            subject_of(account.pod),
            "lease",
            result,
            path=account.located(path),
            role=account.role,
            reason=reason,
            lasts_s=lasts_s,
        )


_AWAY = frozenset({429, 500, 502, 503, 504})


def _is_unknown(answer: VaultAnswer) -> bool:
    errors = answer.document.get("errors")
    words = "; ".join(errors) if isinstance(errors, list) else ""
    return any(word in words for word in _UNKNOWN)
