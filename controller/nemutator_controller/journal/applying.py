"""Applies a manifest where there is no cluster, with the changes that admission would make to its pod.

The plan follows from the policies that were applied before. It is journaled first, and then the manifest
is stored with its changes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nemutator_common.admission_snapshots import Tombstone
from nemutator_common.process import Process

from nemutator_controller.journal.live_objects import LiveObject
from nemutator_controller.journal.manifests import (
    DEFAULT_NAMESPACE,
    Applied,
    Manifest,
    ManifestError,
    manifest_of,
)
from nemutator_controller.journal.ports import JournalStore, Manifests
from nemutator_controller.journal.revisions import is_outdated, revision_of
from nemutator_controller.mutations.advisor import Advisor
from nemutator_controller.mutations.decisions import Decision, Subject
from nemutator_controller.mutations.edits import TooLargeError, apply_edits, same
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.paths import PathError
from nemutator_controller.mutations.stamps import merged, stamp_of, stamping, written
from nemutator_controller.policies.model import KIND
from nemutator_controller.policies.plans import NO_ADVICE, MutationPlan, Situation, plan
from nemutator_controller.policies.snapshot import NO_SEASON, InSeason, Policies, snapshot_of

WRITER = "brain"

STAYS = (
    "left alone, because it was taken back (`nemutator tombstones` lists and forgets such fields)"
)

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that every namespace of a cluster has, so that selectors can name one here, too."""


def _no_tokens() -> None:
    return None


def _no_season() -> InSeason:
    return NO_SEASON


@dataclass(frozen=True, slots=True)
class Applying:
    store: JournalStore
    manifests: Manifests
    fresh: Callable[[], str]
    """Makes unused ids of decisions."""
    process: Process
    advisor_of: Callable[[Mapping[str, Any]], Advisor] = lambda _: NO_ADVICE
    """For a manifest."""
    tokens: Callable[[], KnownTokens | None] = _no_tokens
    """Those of now; None: there is no token store."""
    in_season: Callable[[], InSeason] = _no_season
    """The names of policies whose seasons it is."""

    async def apply(self, document: object) -> Applied:
        """Raises `ManifestError`, and the errors of `Manifests` and `JournalStore`: after them nothing
        has changed, or applying again does no harm."""
        manifest = manifest_of(document)
        before = await self.manifests.get(manifest.subject)
        if manifest.is_policy:
            return await self._save(manifest, before)
        policies = await self._policies()
        stay = await self._taken_back(manifest.subject)
        planned = self._plan(manifest, policies, stay)
        if planned.refused:
            raise ManifestError((planned.refused,))
        faulty = (f"{name}: {why}" for name, why in policies.faulty.items())
        kept = (f"{STAYS}: {path}" for path in sorted(stay))
        preview = (f"in preview: {text}" for text in planned.preview_warnings)
        warnings = (
            *planned.warnings,
            *preview,
            *kept,
            *faulty,
            *await self.manifests.damaged(KIND),
        )
        id_ = self.fresh()
        result, subject = _changed(manifest, planned, id_), manifest.subject
        if before is not None and same(
            _unstamped(before.document, subject), _unstamped(result, subject)
        ):
            return Applied(
                subject=subject,
                outcome="unchanged",
                previewed=planned.previewed,
                warnings=warnings,
            )
        decisions = self._decisions(subject, planned, id_, warnings)
        # The journal must not show a change that is refused afterwards.
        await self.manifests.check(subject, result)
        await self.store.add(decisions, writer=WRITER, state="answered")
        await self.manifests.put(subject, result)
        for decision in decisions:
            await self.store.seen(decision.id, name=subject.name, uid="")
        return Applied(
            subject=subject,
            outcome="created" if before is None else "changed",
            decision=id_ if planned.edits else "",
            edits=planned.edits,
            previewed=planned.previewed,
            warnings=warnings,
        )

    async def delete(self, subject: Subject) -> bool:
        """Delete a policy or a manifest, and what was taken back from it; False: there is none."""
        if not await self.manifests.remove(subject):
            return False
        owner = subject.namespace, subject.kind, subject.name
        kept = (each.tombstone for each in await self.store.tombstones())
        await self.store.forget([each for each in kept if _owner_of(each) == owner])
        return True

    async def _save(self, manifest: Manifest, before: LiveObject | None) -> Applied:
        if before is not None and same(dict(before.document), dict(manifest.document)):
            return Applied(subject=manifest.subject, outcome="unchanged")
        await self.manifests.put(manifest.subject, manifest.document)
        return Applied(subject=manifest.subject, outcome="created" if before is None else "changed")

    async def _policies(self) -> Policies:
        stored = await self.manifests.all(KIND)
        specs = {live.subject.name: live.document.get("spec") for live in stored}
        return snapshot_of(specs).at(self.process.clock.now(), self.in_season())

    async def _taken_back(self, subject: Subject) -> frozenset[str]:
        """The paths of the object that somebody has taken back from policies as they are now."""
        owner = subject.namespace, subject.kind, subject.name
        kept = [
            each for each in await self.store.tombstones() if owner == _owner_of(each.tombstone)
        ]
        if not kept:
            return frozenset()
        revisions = await policy_revisions(self.manifests)
        return frozenset(each.tombstone.path for each in kept if not is_outdated(each, revisions))

    def _plan(self, manifest: Manifest, policies: Policies, stay: frozenset[str]) -> MutationPlan:
        namespace = manifest.subject.namespace or DEFAULT_NAMESPACE
        situation = Situation(
            subject=manifest.subject,
            namespace_labels={NAMESPACE_NAME: namespace},
            advisor=self.advisor_of(manifest.document),
            tokens=self.tokens(),
            defaulted=False,
            reversed=stay,
        )
        try:
            return plan(manifest.document, situation, policies.for_manifest(manifest.subject.kind))
        except TooLargeError as error:
            return MutationPlan(warnings=(f"left alone: {error}",))
        except (PathError, RecursionError) as error:
            raise ManifestError((f"not shaped like a {manifest.subject.kind}: {error}",)) from error

    def _decisions(
        self, subject: Subject, planned: MutationPlan, id_: str, warnings: tuple[str, ...]
    ) -> list[Decision]:
        applied = Decision(
            id=id_,
            at=self.process.clock.now(),
            request_uid="",
            operation="APPLY",
            mode="apply",
            subject=subject,
            edits=planned.edits,
            warnings=warnings,
        )
        preview = replace(applied, id=f"{id_}-preview", mode="preview", edits=planned.previewed)
        return [each for each in (applied, preview) if each.edits]


async def policy_revisions(manifests: Manifests) -> Mapping[str, str]:
    """`PolicyRevisions` where there is no cluster."""
    stored = await manifests.all(KIND)
    return {live.subject.name: revision_of(live.document.get("spec")) for live in stored}


def _owner_of(tombstone: Tombstone) -> tuple[str, str, str]:
    return tombstone.namespace, tombstone.owner_kind, tombstone.owner_name


def _changed(manifest: Manifest, planned: MutationPlan, id_: str) -> Mapping[str, Any]:
    kind = manifest.subject.kind
    if not planned.edits:
        return manifest.document
    stamp = written(merged(stamp_of(manifest.document, kind), id_, planned.edits))
    edits = (*planned.edits, stamping((), stamp, kind=kind))
    result: Mapping[str, Any] = apply_edits(manifest.document, edits, kind)
    return result


def _unstamped(document: Mapping[str, Any], subject: Subject) -> Any:
    """*document* without our stamp, whose id is a new one each time."""
    try:
        return apply_edits(document, [stamping((), kind=subject.kind)], subject.kind)
    except PathError:
        return document
