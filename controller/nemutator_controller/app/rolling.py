"""Slow rolls, put together, with what they ask of the cluster."""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec
from nemutator_common import names

from nemutator_controller.access.ports import PeopleReviewer
from nemutator_controller.access.token_reviews import ASK_S, UnknownNowError
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.leadership import by_the_leader, resumed
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.database.retention import Retention, RetentionLimit, RetentionTask
from nemutator_controller.kube.announcing import Announcer, News
from nemutator_controller.kube.budget import OverBudgetError
from nemutator_controller.kube.failures import ConflictError, KubeError, NotFoundError
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import DAEMON_SETS, DEPLOYMENTS, STATEFUL_SETS
from nemutator_controller.kube.reviews import User, Wish
from nemutator_controller.kube.writing import OnlyIf, Writer
from nemutator_controller.rolling.endpoint import NoRollsApi, RollsApi
from nemutator_controller.rolling.records import (
    LiveWorkload,
    RolledWorkload,
    WorkloadChangedError,
    WorkloadGoneError,
    WorkloadRefusedError,
    WorkloadUnreachableError,
)
from nemutator_controller.rolling.rolling import SlowRolls
from nemutator_controller.rolling.sql import SqlRolls
from nemutator_controller.seasons.day_book import CLUSTER, Scope
from nemutator_controller.seasons.phases import Season

RESOURCES = {"Deployment": DEPLOYMENTS, "StatefulSet": STATEFUL_SETS, "DaemonSet": DAEMON_SETS}

KEPT = 10_000

RETAINED = RetentionTask(
    task="roll retention",
    every_s=300.0,
    step=100,
    kept=names.ROLLS_KEPT,
    dropped=names.ROLLS_DROPPED,
)


def rolling_part(context: BrainContext, season_of: Callable[[Scope], Season]) -> Part:
    cluster, process = context.cluster, context.process
    if cluster is None:
        return Part(routes=NoRollsApi().routes())
    store = SqlRolls(context.database)
    workloads = KubeWorkloads(cluster.reader, cluster.writer, cluster.announcer)
    rolls = SlowRolls(workloads, store, process, SeasonalOffPeaks(season_of))
    rights = ReviewedRollRights(cluster.reviewer)
    api = RollsApi(rolls, store, workloads, rights, fresh=fresh_id, process=process)
    limit = RetentionLimit(seconds=context.settings.journal_s, records=KEPT)
    retention = Retention(store, limit, RETAINED, process=process)
    return Part(
        routes=by_the_leader(api.routes(), cluster.leadership),
        restore=rolls.restore,
        tasks=[
            Task(TaskPhase.SAVE, RETAINED.task, retention.run),
            Task(
                TaskPhase.WORK,
                "roll workloads",
                resumed(rolls.restore, rolls.run, process),
                alone=True,
            ),
        ],
    )


@dataclass(frozen=True, slots=True)
class KubeWorkloads:
    """The `Workloads` of rolls."""

    reader: Reader
    writer: Writer
    announcer: Announcer

    async def get(self, workload: RolledWorkload) -> LiveWorkload:
        try:
            body = await self.reader.raw(
                RESOURCES[workload.kind], workload.namespace, workload.name
            )
        except KubeError as error:
            raise _failure(error) from error
        live = _live(workload, body)
        if workload.uid and live.workload.uid != workload.uid:
            raise WorkloadGoneError(f"{workload}: another one has its name by now")
        return live

    async def patch(self, live: LiveWorkload, change: Any) -> LiveWorkload:
        workload = live.workload
        try:
            body = await self.writer.merge_patch(
                RESOURCES[workload.kind],
                workload.namespace,
                workload.name,
                change,
                only_if=OnlyIf(uid=workload.uid, resource_version=live.version),
            )
        except ConflictError as error:
            raise WorkloadChangedError(str(error)) from error
        except OverBudgetError as error:
            raise WorkloadUnreachableError(str(error)) from error
        except KubeError as error:
            raise _failure(error) from error
        return _live(workload, body)

    def notify(self, workload: RolledWorkload, note: str, *, warning: bool = False) -> None:
        where = (workload.kind, workload.namespace, workload.name, workload.uid)
        type_: Literal["Normal", "Warning"] = "Warning" if warning else "Normal"
        api_version = RESOURCES[workload.kind].api_version
        self.announcer.announce(News(api_version, *where, "SlowRoll", note, type_))


@dataclass(frozen=True, slots=True)
class SeasonalOffPeaks:
    """The `OffPeaks` of rolls: the workload's own season, and the cluster's while that one cannot be told."""

    season_of: Callable[[Scope], Season]

    def is_off_peak(self, workload: RolledWorkload) -> bool | None:
        season = self.season_of((workload.namespace, workload.kind, workload.name))
        if season == "unknown":
            season = self.season_of(CLUSTER)
        return None if season == "unknown" else season in ("off-peak", "flat")


@dataclass(frozen=True, slots=True)
class ReviewedRollRights:
    """The `RollRights`."""

    reviewer: PeopleReviewer

    async def may(self, user: User, workload: RolledWorkload) -> bool:
        resource = RESOURCES[workload.kind]
        wish = Wish(verb="patch", resource=resource, namespace=workload.namespace)
        try:
            async with asyncio.timeout(ASK_S):
                return (await self.reviewer.access(user, wish)).allowed
        except (KubeError, TimeoutError) as error:
            raise UnknownNowError(str(error) or "no answer in time") from error


def fresh_id() -> str:
    return uuid.uuid4().hex[:12]


def _live(workload: RolledWorkload, body: bytes) -> LiveWorkload:
    try:
        document = msgspec.json.decode(body, type=dict[str, Any])
        metadata = document["metadata"]
        found = replace(workload, uid=metadata["uid"])
        return LiveWorkload(found, document, metadata["resourceVersion"])
    except (msgspec.MsgspecError, KeyError, TypeError) as error:
        raise WorkloadUnreachableError(f"{workload}: the answer is no object") from error


def _failure(error: KubeError) -> Exception:
    if isinstance(error, NotFoundError):
        return WorkloadGoneError(str(error))
    failure = WorkloadUnreachableError if error.retry else WorkloadRefusedError
    return failure(str(error))
