"""Keeps in memory what answers are made from: policies, labels of namespaces, advice.

Nothing here is asked for while a pod waits. Without the policies' definition in the cluster there
are no policies, and that is no reason not to be ready; without the namespaces there is.
"""

import logging
from collections.abc import Mapping
from typing import Any, Protocol

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter

from nemutator_controller.admission.snapshots import Tombstones, advisor_from, tombstones_from
from nemutator_controller.kube.failures import KubeError, NotFoundError, UnknownResourceError
from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.objects import Namespace
from nemutator_controller.kube.store import Change
from nemutator_controller.kube.subscribing import Resync
from nemutator_controller.mutations.advisor import Advisor, WithoutAdvice
from nemutator_controller.policies.objects import PolicyObject
from nemutator_controller.policies.snapshot import Policies, snapshot_of

log = logging.getLogger(__name__)

LOOK_S = 1.0
"""Between two looks at how the informers do, for /readyz."""

_NO_DEFINITION = (NotFoundError, UnknownResourceError)


class Health(Protocol):
    def fail(self, part: str, why: str) -> None: ...

    def pass_(self, part: str) -> None: ...


class WatchedCluster:
    """A `World` from informers. `follow` and `look` are its tasks, beside the informers' own."""

    def __init__(
        self,
        policies: Informer[PolicyObject],
        namespaces: Informer[Namespace],
        *,
        health: Health,
        clock: Clock,
        meter: Meter,
    ) -> None:
        self._informers = policies, namespaces
        self._health = health
        self._clock = clock
        self._meter = meter
        self._specs: dict[str, Any] = {}
        self._policies = Policies()
        self._told: dict[str, str] = {}
        self.advisor: Advisor = WithoutAdvice("no advice has come from the brain yet")
        self.tombstones: Tombstones = {}
        self._health.fail("namespaces", "not listed yet")
        self._health.fail("policies", "not listed yet")

    @property
    def policies(self) -> Policies:
        return self._policies

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        try:
            found = self._informers[1].snapshot().get("", namespace)
        except NotSyncedError:
            return None
        return None if found is None else found.metadata.labels

    def reversed(self, namespace: str, owner_kind: str, owner_name: str) -> frozenset[str]:
        return self.tombstones.get((namespace, owner_kind, owner_name), frozenset())

    def take_advice(self, document: bytes) -> None:
        """The brain's snapshot in the place of what was known; a `SnapshotError` changes nothing."""
        self.advisor = advisor_from(document)

    def take_tombstones(self, document: bytes) -> None:
        """The same."""
        self.tombstones = tombstones_from(document)

    async def follow(self) -> None:
        """Keep the snapshot of policies true."""
        with self._informers[0].subscribe("admission", capacity=1_000) as changes:
            async for change in changes:
                self._take(change)

    async def look(self) -> None:
        """Keep /readyz true."""
        policies, namespaces = self._informers
        while True:
            without = is_without_definition(policies.problem)
            self._judge("policies", "" if without else problem_of(policies))
            self._judge("namespaces", problem_of(namespaces))
            await self._clock.sleep(LOOK_S)

    def _judge(self, part: str, problem: str) -> None:
        if problem:
            self._health.fail(part, problem)
        else:
            self._health.pass_(part)

    def _take(self, change: Resync[PolicyObject] | Change[PolicyObject]) -> None:
        if isinstance(change, Resync):
            self._specs = {
                each.metadata.name: each.spec for each in change.snapshot.objects.values()
            }
        elif change.after is not None:
            self._specs[change.after.metadata.name] = change.after.spec
        elif change.before is not None:
            self._specs.pop(change.before.metadata.name, None)
        self._policies = snapshot_of(self._specs)
        for state, count in (
            ("sound", len(self._policies.sound)),
            ("faulty", len(self._policies.faulty)),
        ):
            self._meter.gauge(names.POLICIES, count, state=state)
        for name, why in self._policies.faulty.items():
            if self._told.get(name) != why:
                log.warning("policy_left_aside", {names.OBJECT: name, names.ERROR: why[:500]})
        self._told = dict(self._policies.faulty)


def problem_of(informer: Informer[Any]) -> str:
    """An old picture is better than none, so only the first one is waited for."""
    try:
        informer.snapshot()
    except NotSyncedError as error:
        return str(error)[:200]
    return ""


def is_without_definition(problem: KubeError | None) -> bool:
    return isinstance(problem, _NO_DEFINITION)
