"""Reads secrets of a machine without pods from Vault, all with one account, and follows what was read."""

import logging
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.declarations import Reference
from nemutator_common.process import Process

from nemutator_agent.credentials.audit import Audit
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.machine.vault_refusals import of_vault_on_machine
from nemutator_agent.credentials.pods.followed_secrets import FollowedSecrets
from nemutator_agent.credentials.ports import AnnouncesChanges
from nemutator_agent.credentials.responses import SecretResponse, picked
from nemutator_agent.credentials.vault.broker import Broker
from nemutator_agent.credentials.vault.failures import VaultError
from nemutator_agent.credentials.vault.sessions import VaultSession

log = logging.getLogger(__name__)

PART = "login"
"""The name of the machine's login in `/readyz`."""

CHECK_S = 1.0
"""Seconds between two checks whether there is a token: it is renewed also while nobody reads."""


@dataclass(eq=False, slots=True)
class VaultReading:
    """A `ReadsVault`."""

    session: VaultSession
    broker: Broker
    process: Process
    _: KW_ONLY
    changes: AnnouncesChanges
    audit: Audit
    follow: Callable[[str, FollowedSecrets], None]
    """Looks from time to time whether a path has changed that was read."""
    shown: str
    """How the machine logs in, for people."""
    _followed: dict[str, FollowedSecrets] = field(default_factory=dict, init=False)
    _paths: dict[str, str] = field(default_factory=dict, init=False)
    """Both by the name of the secret."""
    _failing: str = field(default="", init=False)

    async def read(self, name: str, reference: Reference) -> SecretResponse:
        path = reference.path
        try:
            reading = await self.broker.read(self.session, path)
        except VaultError as error:
            raise self.refusal(error, path) from error
        answer = picked(name, reference, reading.document, stale=reading.stale)
        followed = self._followed.get(name)
        if followed is None:
            followed = FollowedSecrets(self.session, changes=self.changes, audit=self.audit)
            self._followed[name] = followed
            self._paths[name] = path
        followed.read(name, reference, reading.document)
        self.follow(path, followed)
        return answer

    def refusal(self, error: VaultError, path: str) -> HttpRefusal:
        return of_vault_on_machine(error, account=self.session.account, path=path, shown=self.shown)

    def forget(self, name: str) -> None:
        self._followed.pop(name, None)
        path = self._paths.pop(name, None)
        if path is not None and path not in self._paths.values():
            self.broker.release_at(self.session, path)

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(CHECK_S)
            await self._check()

    async def _check(self) -> None:
        try:
            await self.broker.log_in(self.session)
        except VaultError as error:
            if error.why != self._failing:
                self._failing = error.why
                self.process.readiness.fail(PART, f"no login to Vault: {error.why}")
                log.warning("login_failed", {names.ERROR: error.why})
            return
        if self._failing:
            self._failing = ""
            self.process.readiness.pass_(PART)
