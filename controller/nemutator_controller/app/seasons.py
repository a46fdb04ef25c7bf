"""Seasons, put together: found in use, followed by policies, shown to people."""

import asyncio
import datetime
import uuid
import zoneinfo
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.following import BrainJournal
from nemutator_controller.app.leadership import resumed
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.season_adapters import (
    ClusterSeasoned,
    ManifestSeasoned,
    ObjectsAndSwitches,
    PodSteps,
    ScopesByPath,
    ScopesOfPods,
    SwitchJournalOfBrain,
)
from nemutator_controller.ingest.ports import UsageConsumer
from nemutator_controller.ingest.series_owners import SeriesOwners
from nemutator_controller.journal.files import FileObjects
from nemutator_controller.journal.ports import Objects
from nemutator_controller.journal.sql import SqlJournal
from nemutator_controller.policies.conditions import Forces, SeasonForce
from nemutator_controller.policies.season_policies import Behaviour, behaviour_of
from nemutator_controller.seasons.calendars import SeasonCalendar, zone_offset
from nemutator_controller.seasons.day_book import DayBook
from nemutator_controller.seasons.endpoint import InSeasonApi, NoSeasonsApi, SeasonsApi
from nemutator_controller.seasons.finding import SeasonFinding
from nemutator_controller.seasons.learning import SeasonLearner
from nemutator_controller.seasons.records import PolicyKind
from nemutator_controller.seasons.sql import SqlSeasonDays, SqlSeasonSwitches, SqlStartTimes
from nemutator_controller.seasons.start_times import StartTimes
from nemutator_controller.seasons.starting import StartMeasuring
from nemutator_controller.seasons.switching import SeasonSwitching
from nemutator_controller.seasons.telling import SeasonStatuses
from nemutator_controller.sizing.usages import Usages


@dataclass(frozen=True, slots=True)
class BrainSeasons:
    """What other parts of the brain ask of seasons."""

    context: BrainContext
    learner: SeasonLearner
    finding: SeasonFinding
    switching: SeasonSwitching
    policies: ClusterSeasoned | ManifestSeasoned

    @property
    def consumers(self) -> list[UsageConsumer]:
        return [] if self.context.shared else [self.learner]

    @property
    def watchers(self) -> list[UsageConsumer]:
        """Each of several brains sees the points of all nodes, so that any may go on where the one that leads ends."""
        return [self.learner] if self.context.shared and are_found(self.context) else []

    def in_season(self, kind: PolicyKind) -> Callable[[], frozenset[str]]:
        return lambda: self.switching.in_force(kind)

    def forces(self, kind: PolicyKind) -> Callable[[], Forces]:
        return lambda: {
            one.name: SeasonForce(one.in_force, one.why)
            for one in self.switching.switches.values()
            if one.kind == kind
        }

    def behaviour(self) -> Behaviour:
        return behaviour_of(self.policies.brains, self.switching.in_force("SeasonPolicy"))

    def holds_resizes(self) -> str:
        return self.behaviour().holds_resizes

    def holds_evictions(self) -> str:
        return self.behaviour().holds_evictions

    def beside(self, objects: Objects) -> Objects:
        """*objects*, and switches, which are taken back like changes of them."""
        cluster = self.context.cluster
        leads = (lambda: True) if cluster is None else cluster.leadership.now
        return ObjectsAndSwitches(objects, self.switching, leads)


def are_found(context: BrainContext) -> bool:
    """Off clusters nobody leads, and each of several brains has policies of its own."""
    return context.cluster is not None or not context.shared


def brain_seasons(context: BrainContext) -> BrainSeasons:
    settings, process, cluster = context.settings, context.process, context.cluster
    name = settings.season_zone
    # UTC needs no tzdata, which an image may be without.
    zone = datetime.UTC if name == "UTC" else zoneinfo.ZoneInfo(name)
    calendar = SeasonCalendar(zone_offset(zone), settings.season_day_s)
    most = settings.season_workloads if are_found(context) else 1
    book = DayBook(calendar, most)
    find = ScopesOfPods(cluster.watch).of if cluster else ScopesByPath().of
    learner = SeasonLearner(book, SeriesOwners(find, most_nodes=settings.most_nodes), process)
    finding = SeasonFinding(
        book,
        SqlSeasonDays(context.database),
        process,
        in_thread=asyncio.to_thread,
        lead_s=settings.season_lead_s,
        starts=StartTimes(most=most),
    )
    policies: ClusterSeasoned | ManifestSeasoned
    if cluster:
        policies = ClusterSeasoned(cluster)
    else:
        policies = ManifestSeasoned(FileObjects(process.directory.objects))
    switching = SeasonSwitching(
        finding,
        policies,
        SwitchJournalOfBrain(BrainJournal(SqlJournal(context.database))),
        SqlSeasonSwitches(context.database),
        process,
        fresh=lambda: uuid.uuid4().hex,
    )
    return BrainSeasons(context, learner, finding, switching, policies)


def seasons_part(context: BrainContext, seasons: BrainSeasons, usages: Usages) -> Part:
    cluster, process = context.cluster, context.process
    uplink = InSeasonApi(
        seasons.switching.store,
        lambda in_force: bool(behaviour_of(seasons.policies.brains, in_force).holds_resizes),
    ).routes()
    if not are_found(context):
        return Part(routes=NoSeasonsApi().routes(), uplink=uplink)
    finding, switching = seasons.finding, seasons.switching

    starts: StartMeasuring | None = None
    if cluster:
        starts = StartMeasuring(
            PodSteps(cluster.watch), finding.starts, SqlStartTimes(context.database), process
        )

    async def restore() -> None:
        await finding.restore()
        await switching.restore()
        if starts is not None:
            await starts.restore()

    usual = usages.knobs

    async def behave() -> None:
        """Have advice be made as the brains that are in force say."""
        while True:
            now = seasons.behaviour()
            usages.knobs = type(usual)(
                cpu_percentile=now.cpu_percentile or usual.cpu_percentile,
                memory_buffer=usual.memory_buffer
                if now.memory_buffer is None
                else now.memory_buffer,
                least_cpu_millis=usual.least_cpu_millis,
                least_memory_mb=usual.least_memory_mb,
                window_days=usual.window_days,
            )
            await process.clock.sleep(2.0)

    save, switch = finding.run_saving, switching.run
    tasks = []
    if context.shared and cluster:
        leads = cluster.leadership.now
        save = resumed(finding.fill, save, process)
        switch = resumed(switching.restore, switch, process)
        tasks += [
            Task(TaskPhase.WORK, "follow days of seasons", partial(finding.run_filling, leads)),
            Task(TaskPhase.WORK, "follow switches", partial(switching.run_following, leads)),
        ]
    tasks += [
        Task(TaskPhase.SAVE, "save days of seasons", save, alone=cluster is not None),
        Task(TaskPhase.WORK, "find seasons", finding.run),
        Task(TaskPhase.WORK, "switch seasons", switch, alone=cluster is not None),
        Task(TaskPhase.WORK, "behave by season", behave),
    ]
    if starts is not None:
        tasks += [
            Task(TaskPhase.SAVE, "save start times", starts.run_saving, alone=True),
            Task(TaskPhase.WORK, "measure starts of pods", starts.run),
        ]
    if cluster:
        cluster.statuses.forces = seasons.forces("MutationPolicy")
        switching.changed = cluster.statuses.wake
        statuses = SeasonStatuses(
            cluster.season_policies,
            cluster.writer,
            seasons.forces("SeasonPolicy"),
            lambda: seasons.policies.faulty,
            process,
        )
        tasks += [
            Task(TaskPhase.WATCH, "watch season policies", cluster.season_policies.run),
            Task(TaskPhase.WORK, "season policies' statuses", statuses.run, alone=True),
        ]
    zone = context.settings.season_zone
    return Part(
        routes=SeasonsApi(finding, switching, zone).routes(),
        uplink=uplink,
        restore=restore,
        tasks=tasks,
    )
