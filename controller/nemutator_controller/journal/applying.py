"""Applies a manifest where there is no cluster, with the changes that admission would make to its pod.

The policies that were applied before make the plan; it is journaled, and only then the manifest is
kept with its changes in it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from nemutator_controller.mutations.advisor import Advisor
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.mutations.edits import apply_edits, same
from nemutator_controller.mutations.paths import PathError, value_at
from nemutator_controller.mutations.stamps import PATH, merged, stamp_of, written
from nemutator_controller.policies.model import KIND
from nemutator_controller.policies.plans import NO_ADVICE, MutationPlan, Situation, plan
from nemutator_controller.policies.snapshot import Policies, snapshot_of

WRITER = "brain"

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that every namespace of a cluster has: by it selectors can name one here, too."""


@dataclass(frozen=True, slots=True)
class Applying:
    store: JournalStore
    manifests: Manifests
    fresh: Callable[[], str]
    """Makes ids of decisions that nobody has used."""
    process: Process
    advisor: Advisor = NO_ADVICE

    async def apply(self, document: object) -> Applied:
        """Raises `ManifestError`; and what `Manifests` and `JournalStore` raise, then nothing is
        changed or applying again does no harm."""
        manifest = manifest_of(document)
        before = await self.manifests.get(manifest.subject)
        if manifest.is_policy:
            return await self._save(manifest, before)
        policies = await self._policies()
        planned = self._plan(manifest, policies)
        faulty = (f"{name}: {why}" for name, why in policies.faulty.items())
        warnings = (*planned.warnings, *faulty, *await self.manifests.damaged(KIND))
        id_ = self.fresh()
        result = _changed(manifest, planned, id_)
        if before is not None and same(_unstamped(before), _unstamped_in(result, manifest.subject)):
            return Applied(subject=manifest.subject, outcome="unchanged", warnings=warnings)
        decisions = self._decisions(manifest.subject, planned, id_, warnings)
        # The journal shall not show what is refused afterwards.
        await self.manifests.check(manifest.subject, result)
        await self.store.add(decisions, writer=WRITER, state="answered")
        await self.manifests.put(manifest.subject, result)
        for decision in decisions:
            await self.store.seen(decision.id, name=manifest.subject.name, uid="")
        return Applied(
            subject=manifest.subject,
            outcome="created" if before is None else "changed",
            decision=id_ if planned.edits else "",
            edits=planned.edits,
            previewed=planned.previewed,
            warnings=warnings,
        )

    async def all(self) -> Sequence[LiveObject]:
        """Everything that was applied."""
        return await self.manifests.all()

    async def get(self, subject: Subject) -> LiveObject | None:
        return await self.manifests.get(subject)

    async def _save(self, manifest: Manifest, before: LiveObject | None) -> Applied:
        if before is not None and same(dict(before.document), dict(manifest.document)):
            return Applied(subject=manifest.subject, outcome="unchanged")
        await self.manifests.put(manifest.subject, manifest.document)
        return Applied(subject=manifest.subject, outcome="created" if before is None else "changed")

    async def _policies(self) -> Policies:
        stored = await self.manifests.all(KIND)
        return snapshot_of({live.subject.name: live.document.get("spec") for live in stored})

    def _plan(self, manifest: Manifest, policies: Policies) -> MutationPlan:
        namespace = manifest.subject.namespace or DEFAULT_NAMESPACE
        situation = Situation(
            subject=manifest.subject,
            namespace_labels={NAMESPACE_NAME: namespace},
            advisor=self.advisor,
            defaulted=False,
        )
        try:
            return plan(manifest.document, situation, policies.sound)
        except (PathError, RecursionError) as error:
            raise ManifestError((f"not shaped like a {manifest.subject.kind}: {error}",)) from error

    def _decisions(
        self, subject: Subject, planned: MutationPlan, id_: str, warnings: tuple[str, ...]
    ) -> list[Decision]:
        both = (("apply", id_, planned.edits), ("preview", f"{id_}-preview", planned.previewed))
        return [
            Decision(
                id=each,
                at=self.process.clock.now(),
                request_uid="",
                operation="APPLY",
                mode="apply" if mode == "apply" else "preview",
                subject=subject,
                edits=edits,
                warnings=warnings,
            )
            for mode, each, edits in both
            if edits
        ]


def _changed(manifest: Manifest, planned: MutationPlan, id_: str) -> Mapping[str, Any]:
    kind = manifest.subject.kind
    if not planned.edits:
        return manifest.document
    changed = apply_edits(manifest.document, planned.edits, kind)
    stamp = written(merged(stamp_of(manifest.document, kind), id_, planned.edits))
    edit = Edit(path=str(PATH), before=(), after=(stamp,), verb="stamp", policy="")
    result: Mapping[str, Any] = apply_edits(changed, [edit], kind)
    return result


def _unstamped(live: LiveObject) -> Any:
    return _unstamped_in(live.document, live.subject)


def _unstamped_in(document: Mapping[str, Any], subject: Subject) -> Any:
    """Without our stamp, whose id is another one each time."""
    try:
        if not value_at(document, PATH, subject.kind):
            return document
        edit = Edit(path=str(PATH), before=(), after=(), verb="stamp", policy="")
        return apply_edits(document, [edit], subject.kind)
    except PathError:
        return document
