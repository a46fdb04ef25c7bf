"""Serves the one socket of a machine without Kubernetes: each caller gets what a rule lets it have."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.declarations import Reference
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_agent.credentials.audit import Audit, AuditSubject, Operation, Result
from nemutator_agent.credentials.http_refusals import (
    HttpRefusal,
    not_attested,
    too_many,
    undeclared,
)
from nemutator_agent.credentials.machine.secret_store import SecretStore
from nemutator_agent.credentials.machine.stored_secrets import StoredSecret
from nemutator_agent.credentials.ports import ConnectedPeer, ReadsVault
from nemutator_agent.credentials.rate_limits import RateLimits
from nemutator_agent.credentials.refused_callers import RefusedCallers
from nemutator_agent.credentials.responses import SecretResponse
from nemutator_agent.credentials.rotation.watching import ChangeFeed
from nemutator_agent.identity.attestors import admit_by_rules
from nemutator_agent.identity.cgroup_lines import UNIFIED, line_of, parse_lines
from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.identity.failures import AttestationError

HOW = "Another one is made with `nemutator secret set <name>`"


@dataclass(eq=False, slots=True)
class MachineHandler:
    """A `CallerHandler`."""

    store: SecretStore
    process: Process
    _: KW_ONLY
    audit: Audit
    node: str
    rate: float
    vault: ReadsVault | None = None
    """None where the machine is told of no Vault."""
    refused: RefusedCallers = field(init=False)
    _limits: RateLimits = field(init=False)

    def __post_init__(self) -> None:
        self.refused = RefusedCallers(self.process, self.audit)
        self._limits = RateLimits(rate=self.rate, burst=2 * self.rate)

    @property
    def changes(self) -> ChangeFeed:
        return self.store.changes

    def admit(self, peer: ConnectedPeer) -> "MachineCaller":
        try:
            facts = peer.facts()
        except AttestationError as error:
            caller = AuditSubject(caller=f"uid {peer.uid}")
            raise self.refused.unattested(caller, error) from None
        if not self._limits.take(peer.uid, self.process.clock.monotonic()):
            raise self.refused.counted(too_many())
        return MachineCaller(self, peer.uid, facts)


@dataclass(frozen=True, slots=True)
class MachineCaller:
    """An `AdmittedCaller`."""

    handler: MachineHandler
    uid: int
    facts: ProcessFacts

    def whoami(self) -> Mapping[str, object]:
        lines = parse_lines(self.facts.cgroup)
        line = line_of(lines, UNIFIED) or line_of(lines, "name=systemd")
        return {
            "uid": self.uid,
            "executable": self.facts.executable or "",
            "cgroup": line.path if line else "",
            "node": self.handler.node,
        }

    def declared(self) -> Mapping[str, Sequence[str]]:
        return {"secrets": sorted(self._allowed()), "environment": []}

    async def secret(self, name: str) -> SecretResponse:
        stored = self.handler.store.secrets.get(name)
        if stored is None:
            self._record("read", "denied", name, reason="declaration")
            raise self.handler.refused.counted(undeclared(name, self._allowed(), how=HOW))
        try:
            admit_by_rules(self.uid, self.facts, stored.rules)
        except AttestationError as refused:
            self._record("read", "denied", name, reason=refused.step)
            raise self.handler.refused.counted(not_attested(refused)) from None
        value = stored.value
        if isinstance(value, Reference):
            return await self._from_vault(name, value)
        self.handler.process.meter.count(names.CREDENTIAL_READS, result="stored")
        self._record("read", "granted", name, version=stored.version)
        return SecretResponse(name=name, read=lambda: value, version=stored.version)

    async def _from_vault(self, name: str, reference: Reference) -> SecretResponse:
        try:
            answer = await read_vault(self.handler.vault, name, reference)
        except HttpRefusal as refusal:
            result: Result = "failed" if refusal.status == 503 else "denied"
            self._record("read", result, name, reason=refusal.step, path=reference.path)
            raise self.handler.refused.counted(refusal) from None
        reason = "stale" if answer.stale else ""
        self._record(
            "read", "granted", name, reason=reason, version=answer.version, path=reference.path
        )
        return answer

    async def environment(self) -> Mapping[str, Secret]:
        """Nothing: only pods declare variables."""
        return {}

    def may_watch(self, name: str) -> bool:
        stored = self.handler.store.secrets.get(name)
        return stored is not None and self._may_have(stored)

    def _allowed(self) -> list[str]:
        return [
            name for name, stored in self.handler.store.secrets.items() if self._may_have(stored)
        ]

    def _may_have(self, stored: StoredSecret) -> bool:
        try:
            admit_by_rules(self.uid, self.facts, stored.rules)
        except AttestationError:
            return False
        return True

    def _record(
        self,
        operation: Operation,
        result: Result,
        name: str,
        *,
        reason: str = "",
        version: int | None = None,
        path: str = "",
    ) -> None:
        program = self.facts.executable or "a program that may not be seen"
        self.handler.audit.record(
            AuditSubject(caller=f"uid {self.uid} {program}"),
            operation,
            result,
            secret=name,
            path=path,
            reason=reason,
            version=version,
        )


async def read_vault(vault: ReadsVault | None, name: str, reference: Reference) -> SecretResponse:
    """Raises an `HttpRefusal`."""
    if vault is None:
        raise HttpRefusal(
            503,
            f"the secret {name!r} is in Vault, and this agent is told of none",
            remedy="set credentials.vault_address, and vault_auth_method to approle or token",
            step="vault",
        )
    return await vault.read(name, reference)
