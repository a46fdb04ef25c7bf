"""Keeps in memory what answers are made from: policies, labels, runtime classes, advice, tokens, images.

No request is made while a pod waits. A cluster without the policies' definition has no policies, and
admission is ready without them, and without the list of runtime classes; it is not ready without the
list of namespaces.
"""

import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.admission.image_asking import WantedImages
from nemutator_controller.admission.snapshot_slices import Slices, advisor_slices, token_slices
from nemutator_controller.admission.snapshots import (
    Tombstones,
    UnwantedByWorkload,
    images_from,
    in_season_from,
    talkers_from,
    tombstones_from,
    unwanted_from,
)
from nemutator_controller.kube.failures import NotFoundError, UnknownResourceError
from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.objects import Object, RuntimeClass
from nemutator_controller.kube.store import Change
from nemutator_controller.kube.subscribing import Resync
from nemutator_controller.mutations.advisor import Advisor, WithoutAdvice
from nemutator_controller.mutations.image_commands import NO_IMAGE_COMMANDS, ImageCommands
from nemutator_controller.mutations.image_digests import ImageDigests, NoDigest, WithoutDigests
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.resource_bounds import UNBOUNDED, ResourceBounds
from nemutator_controller.mutations.talkers import NO_TALKERS, Talkers
from nemutator_controller.policies.model import Policy
from nemutator_controller.policies.objects import PolicyObject
from nemutator_controller.policies.snapshot import (
    MOST,
    NO_POLICIES,
    NO_SEASON,
    InSeason,
    Policies,
    snapshot_of,
)

T = TypeVar("T")

log = logging.getLogger(__name__)

CHECK_S = 1.0
"""The time between two checks of the informers, for /readyz."""

NO_TOKENS_YET = KnownTokens({}, "no tokens have come from the brain yet")
NO_DIGESTS_YET = WithoutDigests(NoDigest("awaited", "no digests have come from the brain yet"))
NO_ADVICE_YET = WithoutAdvice("no advice has come from the brain yet")


@dataclass(slots=True)
class WatchedCluster:
    """A `KnownCluster` from informers."""

    policy_informer: Informer[PolicyObject]
    namespace_informer: Informer[Object]
    runtime_class_informer: Informer[RuntimeClass]
    process: Process
    resource_bounds: Callable[[str], ResourceBounds] = lambda _: UNBOUNDED
    """By namespace."""
    bounds_moment: Callable[[], int] = lambda: 0
    """Grows with each change of them."""
    sizing_informer: Informer[Any] | None = None
    """Of SizingPolicies, where somebody makes policies of them."""
    sizing_policy: Callable[[str, Any], Policy | None] = lambda _name, _spec: None
    """What one says of pods at their creation, by its name and its spec; None: nothing."""
    advisor: Advisor = field(default=NO_ADVICE_YET, init=False)
    tokens: KnownTokens | None = field(default=NO_TOKENS_YET, init=False)
    images: ImageCommands = field(default=NO_IMAGE_COMMANDS, init=False)
    digests: ImageDigests = field(default=NO_DIGESTS_YET, init=False)
    talkers: Talkers = field(default=NO_TALKERS, init=False)
    wanted_images: WantedImages = field(init=False)
    tombstones: Tombstones = field(default_factory=dict, init=False)
    unwanted: UnwantedByWorkload = field(default_factory=dict, init=False)
    in_season: InSeason = field(default=NO_SEASON, init=False)
    policies: Policies | None = field(default=None, init=False)
    _taken: int = field(default=0, init=False)
    """How often the brain has told what was taken back, or which labels are unwanted."""
    _specs: dict[str, Any] = field(default_factory=dict, init=False)
    _mutating: Policies | None = field(default=None, init=False)
    _sizing: dict[str, Policy] = field(default_factory=dict, init=False)
    _logged: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.wanted_images = WantedImages(self.process)
        self.process.readiness.fail("namespaces", "not listed yet")
        self.process.readiness.fail("policies", "not listed yet")

    def moment(self, *, with_bounds: bool) -> int:
        # None of them ever goes back, so that the sum says as much as each.
        known = self.namespace_informer.writes.number + self._taken
        return known + self.bounds_moment() if with_bounds else known

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        try:
            found = self.namespace_informer.snapshot().get("", namespace)
        except NotSyncedError:
            return None
        return None if found is None else found.metadata.labels

    def runtime_handler(self, runtime_class: str) -> str | None:
        try:
            found = self.runtime_class_informer.snapshot().get("", runtime_class)
        except NotSyncedError:
            return None
        return None if found is None else found.handler

    def reversed(self, namespace: str, owner_kind: str, owner_name: str) -> frozenset[str]:
        return self.tombstones.get((namespace, owner_kind, owner_name), frozenset())

    def unwanted_labels(self, namespace: str, owner_kind: str, owner_name: str) -> frozenset[str]:
        return self.unwanted.get((namespace, owner_kind, owner_name), frozenset())

    async def take_advice(self, document: bytes) -> None:
        """Replace what was known by the brain's snapshot; a `SnapshotError` changes nothing."""
        self.advisor = await self._whole(advisor_slices(document))

    async def take_tombstones(self, document: bytes) -> None:
        """The same for what was taken back."""
        self.tombstones = tombstones_from(document)
        self._taken += 1

    async def take_tokens(self, document: bytes) -> None:
        """The same for the values of placeholders."""
        self.tokens = await self._whole(token_slices(document))

    async def take_images(self, document: bytes) -> None:
        """The same for what images start, and which digests their tags name."""
        self.images, self.digests = images_from(document, self.wanted_images)

    async def take_seasons(self, document: bytes) -> None:
        """The same for the policies whose seasons it is."""
        self.in_season = in_season_from(document)

    async def take_talkers(self, document: bytes) -> None:
        """The same for who exchanges much with whom."""
        self.talkers = talkers_from(document)

    async def take_unwanted(self, document: bytes) -> None:
        """The same for labels that workloads want pods without."""
        self.unwanted = unwanted_from(document)
        self._taken += 1

    async def _whole(self, slices: Slices[T]) -> T:
        """What *slices* make, with others' turns between them."""
        while True:
            try:
                next(slices)
            except StopIteration as made:
                result: T = made.value
                return result
            await self.process.clock.sleep(0)

    def tasks(self) -> dict[str, Callable[[], Coroutine[Any, Any, None]]]:
        """What keeps it up to date, by name."""
        sizing = self.sizing_informer
        also = (
            {}
            if sizing is None
            else {"watch sizing policies": sizing.run, "follow sizing policies": self.follow_sizing}
        )
        return {
            **also,
            "watch policies": self.policy_informer.run,
            "watch namespaces": self.namespace_informer.run,
            "watch runtime classes": self.runtime_class_informer.run,
            "follow policies": self.follow,
            "check informers": self.check,
        }

    async def follow(self) -> None:
        """Keep the snapshot of policies up to date."""
        with self.policy_informer.subscribe("admission", capacity=1_000) as changes:
            async for change in changes:
                self._take(change)

    async def follow_sizing(self) -> None:
        """Keep those of SizingPolicies up to date; without their definition there are none."""
        assert self.sizing_informer is not None
        with self.sizing_informer.subscribe("admission", capacity=1_000) as changes:
            async for change in changes:
                self._take_sizing(change)

    async def check(self) -> None:
        """Keep /readyz up to date."""
        while True:
            absent = isinstance(self.policy_informer.problem, NotFoundError | UnknownResourceError)
            if absent and self._mutating is None:
                self._mutating = Policies()
                self._join()
            if self.policies is None:
                why = str(self.policy_informer.problem or "not listed yet")
                self.process.readiness.fail("policies", why[:200])
            else:
                self.process.readiness.pass_("policies")
            self._check("namespaces", self.namespace_informer)
            await self.process.clock.sleep(CHECK_S)

    def _check(self, part: str, informer: Informer[Any]) -> None:
        """An old snapshot is better than none, so only the first one is waited for."""
        try:
            informer.snapshot()
        except NotSyncedError as error:
            self.process.readiness.fail(part, str(error)[:200])
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
        policies = self._mutating = snapshot_of(self._specs, self._mutating or NO_POLICIES)
        self._join()
        meter = self.process.meter
        meter.gauge(names.POLICIES, len(policies.sound), state="sound")
        meter.gauge(names.POLICIES, len(policies.faulty), state="faulty")
        for name, why in policies.faulty.items():
            if self._logged.get(name) != why:
                log.warning("policy_left_aside", {names.OBJECT: name, names.ERROR: why[:500]})
        self._logged = dict(policies.faulty)

    def _take_sizing(self, change: Resync[Any] | Change[Any]) -> None:
        if isinstance(change, Resync):
            self._sizing = {}
            for each in change.snapshot.objects.values():
                self._note_sizing(each.metadata.name, each.spec)
        elif change.after is not None:
            self._note_sizing(change.after.metadata.name, change.after.spec)
        elif change.before is not None:
            self._sizing.pop(change.before.metadata.name, None)
        self._join()

    def _note_sizing(self, name: str, spec: Any) -> None:
        found = self.sizing_policy(name, spec)
        if found is None:
            self._sizing.pop(name, None)
        elif name in self._sizing or len(self._sizing) < MOST:
            self._sizing[name] = found

    def _join(self) -> None:
        """What advice says comes after what policies say: they may have set what it is held within."""
        if self._mutating is None:
            return
        sizing = [self._sizing[name] for name in sorted(self._sizing)]
        self.policies = Policies((*self._mutating.sound, *sizing), self._mutating.faulty)
