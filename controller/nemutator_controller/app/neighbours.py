"""Neighbours, put together, with what it asks of the cluster."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.followed_objects import RESOURCES
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.cluster.pods import GRADED, PodOwner, by_grade, container_name
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.kube.announcing import News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import KubeError, NotFoundError
from nemutator_controller.kube.informing import NotSyncedError
from nemutator_controller.kube.objects import Metadata, Pod
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.writing import ANYWAY, OnlyIf
from nemutator_controller.neighbours.aside_keeping import AsideKeeping
from nemutator_controller.neighbours.endpoint import NeighboursApi
from nemutator_controller.neighbours.labelling import NeighbourLabels
from nemutator_controller.neighbours.labels import (
    ALL_LABELS,
    GradeLabels,
    LabelledObject,
    NotLabelledError,
)
from nemutator_controller.neighbours.learning import NeighbourLearner
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.model import PlacedContainer
from nemutator_controller.neighbours.node_window import Key
from nemutator_controller.neighbours.ports import NeighbourPlaces
from nemutator_controller.neighbours.sql import SqlNeighbourWeeks
from nemutator_controller.neighbours.verdicts import Verdicts
from nemutator_controller.neighbours.week_saving import WeekSaving
from nemutator_controller.sizing.keys import ByPath

REMEMBERED = 200_000
"""Pods and workloads that have a week of grades: 140 bytes each, once somebody has looked at them."""


def neighbour_learner(context: BrainContext) -> NeighbourLearner:
    settings = context.settings
    return NeighbourLearner(context.process, settings.most_nodes, settings.neighbour_minute_s)


def neighbour_assessments(context: BrainContext, learner: NeighbourLearner) -> NeighbourAssessments:
    places: NeighbourPlaces = (
        PlacesByPath() if context.cluster is None else PlacesInCluster(context.cluster.watch)
    )
    verdicts = Verdicts(share=context.settings.neighbour_share, most=REMEMBERED)
    return NeighbourAssessments(learner, places, verdicts, asyncio.to_thread, context.process)


def neighbours_part(
    context: BrainContext, assessments: NeighbourAssessments, aside: AsideKeeping | None
) -> Part:
    saving = WeekSaving(assessments.verdicts, SqlNeighbourWeeks(context.database), context.process)
    tasks = [
        Task(TaskPhase.WORK, "look at neighbours", assessments.run),
        # Each brain that shares a database sees the points of all nodes, so the weeks of the one that leads are whole.
        Task(TaskPhase.SAVE, "save weeks of neighbours", saving.run, alone=True),
    ]
    if context.cluster is not None and context.settings.neighbour_labels:
        labels = NeighbourLabels(assessments, LabelsInCluster(context.cluster), context.process)
        tasks.append(Task(TaskPhase.WORK, "label neighbours", labels.run, alone=True))
    if aside is not None:
        tasks.append(Task(TaskPhase.WORK, "keep aggressors aside", aside.run, alone=True))
    routes = NeighboursApi(assessments, aside, context.process.clock).routes()
    return Part(routes=routes, tasks=tasks, restore=saving.restore)


@dataclass(frozen=True, slots=True)
class PlacesInCluster:
    """The `NeighbourPlaces` of a cluster."""

    watch: ClusterWatch

    def of_all(self, node: str, keys: Sequence[Key]) -> list[PlacedContainer | None]:
        snapshot = self.watch.snapshot()
        if snapshot is None:
            return [None] * len(keys)
        pods: dict[str, tuple[Pod, PodOwner] | None] = {}
        found: list[PlacedContainer | None] = []
        for uid, container_id in keys:
            if uid not in pods:
                pod = snapshot.on(node, uid)
                pods[uid] = None if pod is None else (pod, snapshot.owner(pod))
            known = pods[uid]
            if known is None:
                found.append(None)
                continue
            pod, owner = known
            meta = pod.metadata
            # It is the newest status that names containers: one that was restarted has another id.
            name = container_name(pod, container_id) or container_id[:12]
            found.append(
                PlacedContainer(
                    node, meta.namespace, meta.name, meta.uid, name, owner.kind, owner.name
                )
            )
        return found


class PlacesByPath:
    """The `NeighbourPlaces` of machines outside of a cluster: each group is one of its own."""

    def of_all(self, node: str, keys: Sequence[Key]) -> list[PlacedContainer | None]:
        return [self._of(node, key) for key in keys]

    def _of(self, node: str, key: Key) -> PlacedContainer | None:
        path, container_id = key
        found = ByPath().of(node, Series(path, None, container_id or None, None))
        if found is None:
            return None
        return PlacedContainer(
            node=node,
            namespace=found.namespace,
            pod=found.owner,
            uid=f"{node}:{path}",
            container=found.container,
            owner_kind=found.owner_kind,
            owner=found.owner,
        )


@dataclass(frozen=True, slots=True)
class LabelsInCluster:
    """The `LabelledObjects`: running pods, and workloads that nothing else makes."""

    cluster: Cluster

    def standing(
        self, wanted: Collection[LabelledObject]
    ) -> Mapping[LabelledObject, GradeLabels] | None:
        snapshot = self.cluster.watch.snapshot()
        if snapshot is None:
            return None
        pods = [
            pod
            for one in wanted
            if one.kind == PODS.kind and (pod := snapshot.pod(one.uid)) is not None
        ]
        found: dict[LabelledObject, GradeLabels] = {
            LabelledObject(PODS.kind, meta.namespace, meta.name, meta.uid): _grades(meta)
            for meta in (each.metadata for each in (*pods, *snapshot.pods.by(GRADED, GRADED)))
            if not meta.deletion_timestamp
        }
        named = {(one.kind, one.namespace, one.name) for one in wanted}
        for kind, informer in self.cluster.workloads.items():
            try:
                several = informer.snapshot().objects.values()
            except NotSyncedError:
                return None
            for each in several:
                meta = each.metadata
                is_wanted = (kind, meta.namespace, meta.name) in named
                # What another object makes is written by that one.
                if (is_wanted or by_grade(each)) and meta.controller is None:
                    found[LabelledObject(kind, meta.namespace, meta.name)] = _grades(meta)
        return found

    async def write(self, one: LabelledObject, changes: Mapping[str, str | None]) -> None:
        only_if = OnlyIf(uid=one.uid) if one.uid else ANYWAY
        patch = {"metadata": {"labels": dict(changes)}}
        try:
            await self.cluster.writer.merge_patch(
                RESOURCES[one.kind], one.namespace, one.name, patch, only_if=only_if
            )
        except NotFoundError:
            return
        except (KubeError, OverBudgetError) as error:
            raise NotLabelledError(str(error)) from error

    def notify(self, one: LabelledObject, note: str) -> None:
        resource = RESOURCES[one.kind]
        where = (resource.api_version, one.kind, one.namespace, one.name, one.uid)
        self.cluster.announcer.announce(News(*where, "Neighbours", note, "Warning"))


def _grades(meta: Metadata) -> GradeLabels:
    return {label: meta.labels[label] for label in ALL_LABELS if label in meta.labels}
