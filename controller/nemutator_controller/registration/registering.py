"""Keeps the installation's certificates valid, publishes its authority in Kubernetes, and makes the key
that all its processes have in common for digests of paths."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.path_digests import EXPECTED, keys_in
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import AlreadyExistsError, ForbiddenError, KubeError
from nemutator_controller.registration.bundles import bundle_patch
from nemutator_controller.registration.certificates import (
    Pair,
    is_authority,
    is_due,
    issue,
    new_authority,
)
from nemutator_controller.registration.ports import Installation, OwnLeaf

log = logging.getLogger(__name__)

AUTHORITY = "nemutator-tls"
ADMISSION = "nemutator-admission-tls"
"""Secrets in our own namespace. Only the brain may read that of the authority."""

EVERY_S = 60.0
TRY_S = 30.0
PART = "registration"

_BACKOFF = Backoff(first_s=1.0, longest_s=60.0)


@dataclass(frozen=True, slots=True)
class Servers:
    """The names by which our servers are called."""

    admission: Sequence[str]
    brain: Sequence[str]


@dataclass(slots=True)
class Registrar:
    """`run` is the task. `has_leaf` is set as soon as the brain has a certificate to show; `audit_keys`
    are those of the installation, as they were last seen."""

    installation: Installation
    own: OwnLeaf
    servers: Servers
    process: Process
    leads: Callable[[], bool] = lambda: True
    """Of several brains one makes what all of them share; the others wait for it."""
    webhooks: str = "nemutator"
    optional_webhooks: Sequence[str] = ()
    """Configurations that somebody may have installed, with what lets us write to them."""
    has_leaf: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    audit_keys: Sequence[Secret] = field(default=(), init=False)
    _failures: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.own.read() is not None:
            # A brain that restarts while the API server is away serves with its old certificate.
            self.has_leaf.set()
        self.process.readiness.fail(PART, "the certificates have not been checked yet")

    async def run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(TRY_S):
                    await self.register()
            except (KubeError, OverBudgetError, OperatorError, ValueError, TimeoutError) as error:
                self._failures += 1
                self.process.readiness.fail(PART, str(error) or "the API server does not answer")
                log.warning("registration_failed", {names.ERROR: error})
                await self.process.clock.sleep(_BACKOFF.delay_s(self._failures, roll=1.0))
                continue
            self._failures = 0
            self.process.readiness.pass_(PART)
            await self.process.clock.sleep(EVERY_S)

    async def register(self) -> None:
        """Check everything once, and correct what is not as it should be."""
        authority = await self._authority()
        self._renew_own(authority)
        if not self.leads():
            self.audit_keys = await self._audit_keys()
            return
        now = self.process.clock.now()
        leaf = await self.installation.pair(ADMISSION)
        if is_due(leaf, authority, self.servers.admission, now=now):
            fresh = issue(authority, self.servers.admission, now=now)
            await self.installation.save_pair(ADMISSION, fresh)
            log.info("certificate_issued", {names.OBJECT: ADMISSION})
        await self.installation.publish(authority.certificate)
        await self._have_trusted(self.webhooks, authority)
        for name in self.optional_webhooks:
            try:
                await self._have_trusted(name, authority)
            except ForbiddenError as error:
                # What lets us belongs to the same optional part.
                log.warning("webhooks_not_ours", {names.OBJECT: name, names.ERROR: error})
        self.audit_keys = await self._audit_keys()

    async def _have_trusted(self, name: str, authority: Pair) -> None:
        configuration = await self.installation.webhooks(name)
        if configuration is None:
            return
        operations = bundle_patch(configuration, authority.certificate)
        if operations:
            await self.installation.patch_webhooks(name, operations)
            log.info("webhooks_trust", {names.OBJECT: name, names.COUNT: len(operations) // 2})

    async def _authority(self) -> Pair:
        now = self.process.clock.now()
        stored = await self.installation.pair(AUTHORITY)
        if stored is not None and is_authority(stored, now=now):
            return stored
        self._only_the_leader(AUTHORITY)
        fresh = new_authority("nemutator", now=now)
        try:
            await self.installation.save_pair(AUTHORITY, fresh)
        except AlreadyExistsError:
            # Another brain was faster, and its authority is the installation's.
            stored = await self.installation.pair(AUTHORITY)
            if stored is None or not is_authority(stored, now=now):
                raise
            return stored
        log.info("authority_made", {names.OBJECT: AUTHORITY})
        return fresh

    async def _audit_keys(self) -> Sequence[Secret]:
        stored = await self.installation.audit_keys()
        if stored is None:
            self._only_the_leader("the key for digests")
            try:
                stored = await self.installation.make_audit_key()
            except AlreadyExistsError:
                # That of another brain, which was faster; it is read the next time.
                return self.audit_keys
            log.info("audit_key_made")
        keys = keys_in(stored)
        if keys is None:
            raise OperatorError(
                f"the Secret of audit keys: {EXPECTED}",
                remedy="bring back what it held, or delete it for a new key: what was recorded before is "
                "then found by no path",
                code=ExitCode.SETTINGS,
            )
        return keys

    def _only_the_leader(self, missing: str) -> None:
        if not self.leads():
            raise OperatorError(
                f"{missing} is not there yet, and another brain makes it",
                remedy="look at what that brain says, if this lasts",
                code=ExitCode.UNREACHABLE,
            )

    def _renew_own(self, authority: Pair) -> None:
        now = self.process.clock.now()
        if is_due(self.own.read(), authority, self.servers.brain, now=now):
            self.own.write(issue(authority, self.servers.brain, now=now))
            log.info("certificate_issued", {names.OBJECT: names.BRAIN})
        self.has_leaf.set()
