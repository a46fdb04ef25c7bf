"""The journal, put together: what was changed, and what takes it back."""

import uuid
from functools import partial

from nemutator_common import names

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, StoredStream, Task, TaskPhase
from nemutator_controller.app.seasons import BrainSeasons
from nemutator_controller.app.sizing import LocalAdvice
from nemutator_controller.database.retention import Retention, RetentionLimit, RetentionTask
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.applying import Applying, policy_revisions
from nemutator_controller.journal.endpoint import MutationsApi, TombstonesApi
from nemutator_controller.journal.files import FileObjects
from nemutator_controller.journal.forgetting import Forgetting
from nemutator_controller.journal.kept_endpoint import KeptApi
from nemutator_controller.journal.kube_objects import KubeObjects
from nemutator_controller.journal.manifests_endpoint import ManifestsApi
from nemutator_controller.journal.rolling_back import RollingBack
from nemutator_controller.journal.sql import SqlJournal, recorder
from nemutator_controller.journal.stamp_observer import StampObserver
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
        seasons.beside(objects),
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
    return Part(
        routes=routes,
        uplink=TombstonesApi(store, replicas).routes(),
        streams={"decisions": StoredStream("admission", recorder(context.process.meter))},
        tasks=tasks,
    )


def admission_replicas(context: BrainContext) -> AdmissionReplicas:
    return AdmissionReplicas(expected=context.cluster is not None, process=context.process)


def fresh_id() -> str:
    return uuid.uuid4().hex
