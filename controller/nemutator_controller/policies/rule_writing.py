"""Has the API server ask us about workloads while some policy is for their templates, and not otherwise."""

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process

from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import KubeError, NotFoundError
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import MUTATING_WEBHOOKS
from nemutator_controller.kube.subscribing import Resync
from nemutator_controller.kube.writing import Writer
from nemutator_controller.policies.objects import PolicyObject
from nemutator_controller.policies.snapshot import NO_POLICIES, Policies, snapshot_of
from nemutator_controller.policies.template_rules import rules_for, rules_patch

log = logging.getLogger(__name__)

WAITING = 1_000
"""The most changes that may wait; when there are more, all policies are read again."""

EVERY_S = 60.0
"""Somebody may apply our manifest anew, which has no rules."""

_BACKOFF = Backoff(first_s=1.0, longest_s=60.0)


@dataclass(slots=True)
class TemplateRuleWriter:
    """`follow`, `check` and `write` are its tasks, beside the informer's own."""

    informer: Informer[PolicyObject]
    reader: Reader
    writer: Writer
    configuration: str
    """The name of our webhook configuration."""
    process: Process
    _specs: dict[str, Any] = field(default_factory=dict, init=False)
    _policies: Policies = field(default=NO_POLICIES, init=False)
    _listed: bool = field(default=False, init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def follow(self) -> None:
        with self.informer.subscribe("template rules", capacity=WAITING) as changes:
            async for change in changes:
                if isinstance(change, Resync):
                    everything = change.snapshot.objects.values()
                    self._specs = {each.metadata.name: each.spec for each in everything}
                    self._listed = True
                elif change.after is not None:
                    self._specs[change.after.metadata.name] = change.after.spec
                elif change.before is not None:
                    self._specs.pop(change.before.metadata.name, None)
                self._changed.set()

    async def check(self) -> None:
        while True:
            await self.process.clock.sleep(EVERY_S)
            self._changed.set()

    async def write(self) -> None:
        failures = 0
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                # Until policies are listed nobody knows that none of them asks for it.
                if self._listed:
                    await self._write()
                failures = 0
            except (KubeError, OverBudgetError) as error:
                log.warning("template_rules_not_written", {names.ERROR: error})
                failures += 1
                await self.process.clock.sleep(_BACKOFF.delay_s(failures, roll=1.0))
                self._changed.set()

    async def _write(self) -> None:
        self._policies = snapshot_of(self._specs, self._policies)
        rules = rules_for(self._policies.for_templates)
        try:
            body = await self.reader.raw(MUTATING_WEBHOOKS, "", self.configuration)
        except NotFoundError:
            return
        operations = rules_patch(msgspec.json.decode(body), rules)
        if operations:
            await self.writer.json_patch(MUTATING_WEBHOOKS, "", self.configuration, operations)
            log.info("template_rules_written", {names.COUNT: len(rules)})
