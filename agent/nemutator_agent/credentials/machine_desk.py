"""Serves the one socket of a machine without Kubernetes: to each caller what a rule lets it have."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter
from nemutator_common.secret import Secret

from nemutator_agent.credentials.auditing import Audit, Operation, Result, Whom
from nemutator_agent.credentials.buckets import Bucket, Buckets
from nemutator_agent.credentials.pod_desk import STRANGERS_BURST, STRANGERS_RATE
from nemutator_agent.credentials.ports import Peer, RuleWitness
from nemutator_agent.credentials.refusals import Refusal, stranger, too_many, undeclared
from nemutator_agent.credentials.stored import Stored, changed
from nemutator_agent.identity.cgroup_lines import UNIFIED, line_of, parse_lines
from nemutator_agent.identity.facts import Facts
from nemutator_agent.identity.refusals import RefusedError
from nemutator_agent.identity.rules import Rule

HOW = "Another one is made with `nemutator secret set <name>`"


class Disk(Protocol):
    """Where the secrets outlive the process."""

    async def save(self, secrets: Mapping[str, Stored]) -> None:
        """All of them or none; raises `OperatorError`."""
        ...


class Cupboard:
    """All secrets of the machine, in memory and on its disk."""

    def __init__(self, secrets: Mapping[str, Stored], disk: Disk, *, clock: Clock) -> None:
        self.secrets: Mapping[str, Stored] = dict(secrets)
        self._disk = disk
        self._clock = clock
        self._one_at_a_time = asyncio.Lock()

    async def set(self, name: str, value: Secret, *, rules: tuple[Rule, ...], owner: int) -> Stored:
        """A new version; raises `StoredError` or `OperatorError`, and then nothing has changed."""
        async with self._one_at_a_time:
            wanted = changed(
                self.secrets, name, value, rules=rules, owner=owner, at=self._clock.now()
            )
            await self._disk.save(wanted)
            self.secrets = wanted
        return wanted[name]


class MachineDesk:
    """A `Desk`."""

    def __init__(
        self,
        cupboard: Cupboard,
        *,
        witness: RuleWitness,
        audit: Audit,
        node: str,
        rate: float,
        clock: Clock,
        meter: Meter,
    ) -> None:
        self.cupboard = cupboard
        self.witness = witness
        self.audit = audit
        self.node = node
        self.meter = meter
        self._clock = clock
        self._buckets = Buckets(rate=rate, burst=2 * rate)
        self._strangers = Bucket(rate=STRANGERS_RATE, burst=STRANGERS_BURST)

    def admit(self, peer: Peer) -> "MachineVisitor":
        now = self._clock.monotonic()
        try:
            facts = peer.facts()
        except RefusedError as refused:
            self.meter.count(names.CREDENTIAL_REFUSALS, step=refused.step)
            if self._strangers.take(now):
                caller = Whom(caller=f"uid {peer.uid}")
                self.audit.record(caller, "connect", "denied", reason=refused.step)
            raise stranger(refused) from None
        if not self._buckets.take(peer.uid, now):
            raise self.counted(too_many())
        return MachineVisitor(self, peer.uid, facts)

    def counted(self, refusal: Refusal) -> Refusal:
        self.meter.count(names.CREDENTIAL_REFUSALS, step=refusal.step)
        return refusal


@dataclass(frozen=True, slots=True)
class Handed:
    """An `Answer`."""

    name: str
    value: Secret
    version: int
    is_whole: bool = False
    stale: bool = False


@dataclass(frozen=True, slots=True)
class MachineVisitor:
    """A `Visitor`."""

    desk: MachineDesk
    uid: int
    facts: Facts

    def whoami(self) -> Mapping[str, object]:
        lines = parse_lines(self.facts.cgroup)
        line = line_of(lines, UNIFIED) or line_of(lines, "name=systemd")
        return {
            "uid": self.uid,
            "executable": self.facts.executable or "",
            "cgroup": line.path if line else "",
            "node": self.desk.node,
        }

    def declared(self) -> Mapping[str, Sequence[str]]:
        return {"secrets": sorted(self._allowed()), "environment": []}

    async def secret(self, name: str) -> Handed:
        stored = self.desk.cupboard.secrets.get(name)
        if stored is None:
            self._record("read", "denied", name, reason="declaration")
            raise self.desk.counted(undeclared(name, self._allowed(), how=HOW))
        try:
            self.desk.witness.admit(self.uid, self.facts, stored.rules)
        except RefusedError as refused:
            self._record("read", "denied", name, reason=refused.step)
            raise self.desk.counted(stranger(refused)) from None
        self.desk.meter.count(names.CREDENTIAL_READS, result="stored")
        self._record("read", "granted", name, version=stored.version)
        return Handed(name, stored.value, stored.version)

    async def environment(self) -> Mapping[str, Secret]:
        """Nothing: only pods declare variables."""
        return {}

    def _allowed(self) -> list[str]:
        return [
            name for name, stored in self.desk.cupboard.secrets.items() if self._may_have(stored)
        ]

    def _may_have(self, stored: Stored) -> bool:
        try:
            self.desk.witness.admit(self.uid, self.facts, stored.rules)
        except RefusedError:
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
    ) -> None:
        program = self.facts.executable or "a program that may not be seen"
        self.desk.audit.record(
            Whom(caller=f"uid {self.uid} {program}"),
            operation,
            result,
            secret=name,
            reason=reason,
            version=version,
        )
