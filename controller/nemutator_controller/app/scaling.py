"""Scaling by forecasts, put together, with what it asks of ForecastScalers, the journal and Prometheus."""

import asyncio
import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nemutator_common.admission_snapshots import Tombstone
from nemutator_common.process import Process

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.following import BrainJournal
from nemutator_controller.app.leadership import by_the_leader
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.prometheus import prometheus
from nemutator_controller.app.scaled_autoscalers import ClusterAutoscalers, SpareOfCluster
from nemutator_controller.app.seasons import BrainSeasons
from nemutator_controller.inventory.taking import CountedCluster
from nemutator_controller.journal.records import EditOutcome, Reversal
from nemutator_controller.journal.sql import SqlJournal
from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.policies.spec_watching import SpecCheck, WatchedSpecs
from nemutator_controller.prometheus_answers import (
    PrometheusRefusedError,
    PrometheusUnavailableError,
)
from nemutator_controller.prometheus_finding import PrometheusFinding
from nemutator_controller.prometheus_http import PrometheusHttp
from nemutator_controller.scaling.endpoint import ScalersApi
from nemutator_controller.scaling.forecast_lines import highest_ahead, highest_upper, slots_ahead
from nemutator_controller.scaling.model import SoundScaler, scaler_of
from nemutator_controller.scaling.objects import ForecastScalerObject
from nemutator_controller.scaling.raising import EVERY_S, LOWERED_AFTER_S, MinimumRaising
from nemutator_controller.scaling.records import ScalerKey, Workload, WorkloadForecast
from nemutator_controller.scaling.sharing import SpareSharing
from nemutator_controller.scaling.telling import ScalerStatuses
from nemutator_controller.seasons.calendars import DAY_S
from nemutator_controller.seasons.day_book import CLUSTER, DayBook, Scope
from nemutator_controller.seasons.finding import LONGEST_LEAD, SeasonFinding

SHORTEST_ROUND_S = 2.0
ASKED_WITHIN_S = 5.0

LIVE_SLOTS = 6
"""Half an hour: of a workload of which nothing was reported for so long nobody knows whether it goes on as before."""

UNKNOWN = "nothing is known of its days yet"
SILENT = "nothing was reported of it for {:.0f} min"
NO_PROMETHEUS = "brain.prometheus names none to ask"


def scaling_part(
    context: BrainContext, seasons: BrainSeasons, counted: CountedCluster | None
) -> Part:
    cluster, process, settings = context.cluster, context.process, context.settings
    if cluster is None or counted is None:
        return Part(routes=ScalersApi(None, None).routes())
    informer, finding = cluster.forecast_scalers, seasons.finding
    scalers = WatchedSpecs(informer, _key, SCALERS)
    compressed = settings.season_day_s / DAY_S
    every_s = max(SHORTEST_ROUND_S, EVERY_S * compressed)
    raising = MinimumRaising(
        scalers,
        ClusterAutoscalers(cluster, counted),
        SeasonForecasts(finding),
        ScalingJournalOfBrain(SqlJournal(context.database), process),
        AskedGuards(prometheus(settings, process, cluster)),
        process,
        me=settings.namespace,
        most=settings.raised_autoscalers,
        fresh=lambda: uuid.uuid4().hex,
        every_s=every_s,
        lowered_after_s=LOWERED_AFTER_S * compressed,
    )
    sharing = SpareSharing(
        scalers,
        raising,
        SpareOfCluster(counted, lambda: foreseen_millis(finding)),
        process,
        reserve_percent=settings.spare_reserve_percent,
        every_s=every_s,
    )
    statuses = ScalerStatuses(
        informer,
        cluster.writer,
        lambda: raising.states,
        scalers.faulty,
        lambda: sharing.replicas,
        process,
    )
    return Part(
        routes=by_the_leader(
            ScalersApi(raising, sharing).routes(), cluster.leadership, reading=True
        ),
        tasks=[
            Task(TaskPhase.WATCH, "watch forecast scalers", informer.run),
            Task(TaskPhase.WORK, "raise minimums", raising.run, alone=True),
            Task(TaskPhase.WORK, "share spare CPU", sharing.run, alone=True),
            Task(TaskPhase.WORK, "forecast scalers' statuses", statuses.run, alone=True),
        ],
    )


def _key(one: ForecastScalerObject) -> tuple[str, str, str] | None:
    meta = one.metadata
    return None if meta.deletion_timestamp else (meta.namespace, meta.name, meta.uid)


def _sound(key: tuple[str, str, str], spec: Any) -> SoundScaler:
    return scaler_of(*key, spec)


def _named(key: tuple[str, str, str]) -> ScalerKey:
    return key[0], key[1]


SCALERS = SpecCheck(_sound, _named, 1_000, "ForecastScalers: remove some")


@dataclass(frozen=True, slots=True)
class ScalingJournalOfBrain:
    """The `ScalingJournal`."""

    journal: SqlJournal
    process: Process

    async def add(self, decision: Decision) -> None:
        await BrainJournal(self.journal).add(decision)

    async def tombstones(self) -> Sequence[Tombstone]:
        return await BrainJournal(self.journal).tombstones()

    async def ended(self, decision: str, paths: Sequence[str], why: str) -> None:
        outcomes = tuple(
            EditOutcome(path=path, live=(), result="reversed", why=why) for path in paths
        )
        await self.journal.close(
            Reversal(
                id=uuid.uuid4().hex,
                decision=decision,
                at=self.process.clock.now(),
                state="reversed",
                outcomes=outcomes,
            )
        )


@dataclass(frozen=True, slots=True)
class AskedGuards:
    """The `GrowthQueries`."""

    source: PrometheusHttp | PrometheusFinding | None

    async def highest(self, query: str) -> float | str:
        if self.source is None:
            return NO_PROMETHEUS
        try:
            async with asyncio.timeout(ASKED_WITHIN_S):
                answer = await self.source.query(query)
        except TimeoutError:
            return f"Prometheus has not answered within {ASKED_WITHIN_S:g} s"
        except (PrometheusUnavailableError, PrometheusRefusedError) as error:
            return str(error)
        values = [value for one in answer.series for value in one.values]
        return max(values) if values else "its query has no value"


@dataclass(frozen=True, slots=True)
class SeasonForecasts:
    """The `WorkloadForecasts`."""

    finding: SeasonFinding

    def of(self, workload: Workload, lead_s: float | None) -> WorkloadForecast:
        return forecast_of(self.finding, workload, lead_s)


def foreseen_millis(finding: SeasonFinding) -> int | None:
    """The upper end of what all workloads together are expected to use within the lead; None: nobody can tell."""
    found = forecast_of(finding, CLUSTER, None)
    return None if found.why_not or found.upper is None else round(found.upper * 1_000)


def forecast_of(finding: SeasonFinding, scope: Scope, lead_s: float | None) -> WorkloadForecast:
    found, book = finding.found.get(scope), finding.book
    if found is None:
        return WorkloadForecast(reason="no_forecast", why_not=UNKNOWN)
    verdict, calendar = found.verdict, book.calendar
    if verdict.seasonal is None or verdict.plan is None:
        return WorkloadForecast(
            skill=verdict.skill, reason="no_forecast", why_not=verdict.reason or UNKNOWN
        )
    slot = calendar.place(finding.process.clock.now()).slot
    if lead_s is None:
        ahead = finding.lead_of(scope)
    else:
        most = int(calendar.slots * LONGEST_LEAD)
        ahead = slots_ahead(lead_s, slot_s=calendar.slot_s, most=most)
    day = verdict.plan.day
    expected, upper = day.expected.tolist(), day.upper.tolist()
    is_silent = _is_silent(book, scope, slot)
    return WorkloadForecast(
        now=expected[slot] if math.isfinite(expected[slot]) else None,
        ahead=highest_ahead(expected, slot=slot, ahead=ahead),
        upper=highest_upper(expected, upper, slot=slot, ahead=ahead),
        lead_s=ahead * calendar.slot_s,
        skill=verdict.skill,
        is_surprised=found.state.is_excess,
        reason="stale" if is_silent else "forecast",
        why_not=SILENT.format(LIVE_SLOTS * calendar.slot_s / 60) if is_silent else "",
    )


def _is_silent(book: DayBook, scope: Scope, slot: int) -> bool:
    line = book.numbers.get(scope)
    if line is None or book.today is None:
        return True
    today = book.today_of(line)[: slot + 1]
    _, days = book.days(line, before=book.today)
    # Around midnight the last slots are yesterday's.
    lately = [*days[-1].tolist(), *today.tolist()][-LIVE_SLOTS - 1 :]
    return not any(map(math.isfinite, lately))
