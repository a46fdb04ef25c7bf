"""Writes into the status of each NodeOversell what has come of it; only when that changes, and nodes not too often."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec
from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.writing import Writer
from nemutator_controller.oversell.objects import NODE_OVERSELLS
from nemutator_controller.oversell.status_rows import (
    NodeOversellObject,
    OversellStatus,
    conditions_of,
    rows_of,
)
from nemutator_controller.oversell.verdicts import NodeVerdict
from nemutator_controller.policies.status_applying import apply_status

CHECK_S = 5.0
EVERY_S = 60.0
"""What bounds nodes changes all the time: a status is not written more often than this, unless its policy is another."""


@dataclass(slots=True)
class OversellStatuses:
    informer: Informer[NodeOversellObject]
    writer: Writer
    verdicts: Callable[[], Sequence[NodeVerdict] | None]
    """None: none were made yet."""
    faulty: Callable[[], Mapping[str, str]]
    process: Process
    _written: dict[str, tuple[float, int]] = field(default_factory=dict, init=False)
    """By name, when a status was written, and for which generation."""

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(CHECK_S)
            await self.write()

    async def write(self) -> None:
        """Write what is out of date."""
        verdicts = self.verdicts()
        try:
            policies = list(self.informer.snapshot().objects.values())
        except NotSyncedError:
            return
        if verdicts is None:
            return
        faulty, now = self.faulty(), self.process.clock.monotonic()
        there = {policy.metadata.name for policy in policies}
        self._written = {name: at for name, at in self._written.items() if name in there}
        for policy in policies:
            meta = policy.metadata
            status = self._status(policy, verdicts, faulty.get(meta.name))
            last = self._written.get(meta.name)
            is_early = last is not None and last[1] == meta.generation and now - last[0] < EVERY_S
            if status == policy.status or is_early:
                continue
            applied = await apply_status(
                self.writer,
                NODE_OVERSELLS,
                meta,
                msgspec.to_builtins(status),
                counted=names.OVERSELL_STATUSES,
                process=self.process,
            )
            if isinstance(applied, bytes):
                self._written[meta.name] = now, meta.generation

    def _status(
        self, policy: NodeOversellObject, verdicts: Sequence[NodeVerdict], fault: str | None
    ) -> OversellStatus:
        moment = datetime.fromtimestamp(self.process.clock.now(), UTC)
        own = [one for one in verdicts if one.policy == policy.metadata.name]
        conditions = conditions_of(policy, own, fault, moment=moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
        return rows_of(own, conditions)
