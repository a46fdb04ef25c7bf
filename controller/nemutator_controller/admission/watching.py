"""Keeps in memory what answers are made from: policies, labels of namespaces, advice.

Nothing here is asked for while a pod waits. Without the policies' definition in the cluster there
are no policies, and that is no reason not to be ready; without the namespaces there is.
"""

import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from nemutator_common import names
from nemutator_common.process import Process

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

CHECK_S = 1.0
"""Between two checks of how the informers do, for /readyz."""

_NO_DEFINITION = (NotFoundError, UnknownResourceError)


NO_ADVICE_YET = WithoutAdvice("no advice has come from the brain yet")


@dataclass(slots=True)
class WatchedCluster:
    """A `KnownCluster` from informers."""

    policy_informer: Informer[PolicyObject]
    namespace_informer: Informer[Namespace]
    process: Process
    advisor: Advisor = field(default=NO_ADVICE_YET, init=False)
    tombstones: Tombstones = field(default_factory=dict, init=False)
    policies: Policies = field(default_factory=Policies, init=False)
    _specs: dict[str, Any] = field(default_factory=dict, init=False)
    _logged: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.process.readiness.fail("namespaces", "not listed yet")
        self.process.readiness.fail("policies", "not listed yet")

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        try:
            found = self.namespace_informer.snapshot().get("", namespace)
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

    def tasks(self) -> dict[str, Callable[[], Coroutine[Any, Any, None]]]:
        """What keeps it true, by name."""
        return {
            "watch policies": self.policy_informer.run,
            "watch namespaces": self.namespace_informer.run,
            "follow policies": self.follow,
            "check informers": self.check,
        }

    async def follow(self) -> None:
        """Keep the snapshot of policies true."""
        with self.policy_informer.subscribe("admission", capacity=1_000) as changes:
            async for change in changes:
                self._take(change)

    async def check(self) -> None:
        """Keep /readyz true."""
        policies, namespaces = self.policy_informer, self.namespace_informer
        while True:
            without = is_without_definition(policies.problem)
            self._judge("policies", "" if without else problem_of(policies))
            self._judge("namespaces", problem_of(namespaces))
            await self.process.clock.sleep(CHECK_S)

    def _judge(self, part: str, problem: str) -> None:
        if problem:
            self.process.readiness.fail(part, problem)
        else:
            self.process.readiness.pass_(part)

    def _take(self, change: Resync[PolicyObject] | Change[PolicyObject]) -> None:
        if isinstance(change, Resync):
            self._specs = {
                each.metadata.name: each.spec for each in change.snapshot.objects.values()
            }
        elif change.after is not None:
            self._specs[change.after.metadata.name] = change.after.spec
        elif change.before is not None:
            self._specs.pop(change.before.metadata.name, None)
        self.policies = snapshot_of(self._specs)
        for state, count in (
            ("sound", len(self.policies.sound)),
            ("faulty", len(self.policies.faulty)),
        ):
            self.process.meter.gauge(names.POLICIES, count, state=state)
        for name, why in self.policies.faulty.items():
            if self._logged.get(name) != why:
                log.warning("policy_left_aside", {names.OBJECT: name, names.ERROR: why[:500]})
        self._logged = dict(self.policies.faulty)


def problem_of(informer: Informer[Any]) -> str:
    """An old snapshot is better than none, so only the first one is waited for."""
    try:
        informer.snapshot()
    except NotSyncedError as error:
        return str(error)[:200]
    return ""


def is_without_definition(problem: KubeError | None) -> bool:
    return isinstance(problem, _NO_DEFINITION)
