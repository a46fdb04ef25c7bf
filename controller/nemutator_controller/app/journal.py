"""The journal, put together: what was changed, and what takes it back."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nemutator_common import names
from nemutator_common.secret import Secret

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.oversell import ObjectsAndRatios
from nemutator_controller.app.parts import Part, StoredStream, Task, TaskPhase
from nemutator_controller.app.seasons import BrainSeasons
from nemutator_controller.app.sizing import LocalAdvice
from nemutator_controller.app.units import units_beside
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.database.retention import Retention, RetentionLimit, RetentionTask
from nemutator_controller.editing.documents import Outcome, StoredPolicy
from nemutator_controller.editing.endpoint import PoliciesApi
from nemutator_controller.editing.kube_policies import KubePolicies
from nemutator_controller.editing.previews import RunningObject, RunningObjects
from nemutator_controller.editing.refusals import READ_AGAIN, NotEditedError
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.applying import NAMESPACE_NAME, Applying, policy_revisions
from nemutator_controller.journal.endpoint import MutationsApi, TombstonesApi
from nemutator_controller.journal.files import FileObjects
from nemutator_controller.journal.forgetting import Forgetting
from nemutator_controller.journal.kept_endpoint import KeptApi
from nemutator_controller.journal.kube_objects import KubeObjects
from nemutator_controller.journal.live_objects import ObjectRefusedError, UnreachableError
from nemutator_controller.journal.manifests import ManifestError
from nemutator_controller.journal.manifests_endpoint import ManifestsApi
from nemutator_controller.journal.rolling_back import RollingBack
from nemutator_controller.journal.sql import SqlJournal, recorder
from nemutator_controller.journal.stamp_observer import StampObserver
from nemutator_controller.mutations.paths import TEMPLATES
from nemutator_controller.policies.model import KIND, Policy
from nemutator_controller.tokens.reading import TokenReading

DECISIONS = RetentionTask(
    task="journal retention",
    every_s=300.0,
    step=200,
    kept=names.DECISIONS,
    dropped=names.DECISIONS_DROPPED,
)


def journal_part(
    context: BrainContext,
    tokens: TokenReading | None,
    replicas: AdmissionReplicas,
    advice: LocalAdvice,
    seasons: BrainSeasons,
) -> Part:
    """Without a cluster the objects are manifests in the data directory."""
    settings, cluster = context.settings, context.cluster
    store = SqlJournal(context.database)
    limit = RetentionLimit(seconds=settings.journal_s, records=settings.journal_decisions)
    retention = Retention(store, limit, DECISIONS, process=context.process)
    tasks = [Task(TaskPhase.SAVE, DECISIONS.task, retention.run)]
    files = FileObjects(context.process.directory.objects)
    objects = KubeObjects(cluster.reader, cluster.writer) if cluster else files
    revisions = cluster.policy_revisions if cluster else partial(policy_revisions, files)
    rolling_back = RollingBack(
        store,
        seasons.beside(
            ObjectsAndRatios(objects, cluster) if cluster else units_beside(objects, context)
        ),
        replicas=replicas,
        fresh=fresh_id,
        process=context.process,
        revisions=revisions,
    )
    forgetting = Forgetting(store, objects, revisions, process=context.process)
    forget = Task(TaskPhase.WORK, "forget tombstones", forgetting.run, alone=cluster is not None)
    tasks.append(forget)
    routes = MutationsApi(store, rolling_back, process=context.process).routes()
    routes += KeptApi(store).routes()
    if cluster:
        routes += PoliciesApi(KubePolicies(cluster.transport)).routes()
        # Pods get their names after the decision about them.
        observer = StampObserver(store, cluster.stamped, process=context.process)
        tasks.append(Task(TaskPhase.WORK, "stamped pods", observer.run, alone=True))
    else:
        applying = Applying(
            store,
            files,
            fresh=fresh_id,
            advisor_of=advice.of,
            tokens=lambda: None if tokens is None else tokens.known,
            process=context.process,
            in_season=seasons.in_season("MutationPolicy"),
        )
        routes += ManifestsApi(applying).routes()
        routes += PoliciesApi(AppliedPolicies(applying)).routes()
    return Part(
        routes=routes,
        uplink=TombstonesApi(store, replicas).routes(),
        streams={"decisions": StoredStream("admission", recorder(context.process.meter))},
        tasks=tasks,
    )


@dataclass(frozen=True, slots=True)
class AppliedPolicies:
    """An `EditablePolicies` of what was applied where there is no cluster."""

    applying: Applying

    async def all(self, who: Secret | None) -> Sequence[StoredPolicy]:
        try:
            found = await self.applying.manifests.all(KIND)
        except UnreachableError as error:
            raise NotEditedError(str(error), error.remedy, again=True) from error
        return [
            StoredPolicy(
                name=live.subject.name, spec=live.document.get("spec"), version=live.version
            )
            for live in found
        ]

    async def running(self, who: Secret | None, policy: Policy) -> RunningObjects:
        try:
            found = await self.applying.manifests.all()
        except UnreachableError as error:
            raise NotEditedError(str(error), error.remedy, again=True) from error
        items = [
            RunningObject(
                subject=live.subject,
                document=live.document,
                namespace_labels={NAMESPACE_NAME: live.subject.namespace},
            )
            for live in found
            if live.subject.kind in TEMPLATES
        ]
        return RunningObjects(items=items, more=False, defaulted=False)

    async def save(
        self,
        who: Secret | None,
        document: Mapping[str, Any],
        *,
        version: str,
    ) -> Outcome:
        name = document["metadata"]["name"]
        known = {each.name: each.version for each in await self.all(None)}
        if known.get(name, "") != version:
            raise NotEditedError(f"{KIND} {name} is another one by now", READ_AGAIN)
        try:
            return (await self.applying.apply(document)).outcome
        except ManifestError as error:
            raise NotEditedError(str(error), "correct these fields") from error
        except ObjectRefusedError as error:
            raise NotEditedError(str(error), "change what it names, then ask again") from error
        except (UnreachableError, StoreUnavailableError) as error:
            raise NotEditedError(str(error), error.remedy, again=True) from error


def admission_replicas(context: BrainContext) -> AdmissionReplicas:
    return AdmissionReplicas(expected=context.cluster is not None, process=context.process)


def fresh_id() -> str:
    return uuid.uuid4().hex
