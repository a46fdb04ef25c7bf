"""Hourly requests, put together: from the history of containers, for SizingPolicies that follow them."""

import asyncio
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, Task, TaskPhase
from nemutator_controller.app.usage_source import PodsByName, chosen_source
from nemutator_controller.history.hours_of_use import HoursOfUse
from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.sizing.hourly.filling import HoursFilling
from nemutator_controller.sizing.hourly.requests import STRATEGY
from nemutator_controller.sizing.hourly.sql import SqlHourlyPoints
from nemutator_controller.sizing.hourly.stepping import HourlyRequests
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.hours_reading import HoursReading
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.updating.records import HourlyAmount, SizedWorkload


def hourly_requests(context: BrainContext, usage: UsageHistory) -> HourlyRequests:
    store = SqlHourlyPoints(context.database)
    return HourlyRequests(HoursOfUse(usage), store, ComputedInThread(), context.process)


def hours_filling_part(context: BrainContext, requests: HourlyRequests) -> Part:
    """Where somebody else has recorded the days before this brain."""
    named, cluster = NamedOwners(), context.cluster
    chosen = chosen_source(context.settings, context.process, cluster, named)
    if chosen is None or cluster is None or not chosen.warm_days:
        return Part()
    filling = HoursFilling(
        requests,
        HoursReading(chosen.source, PodsByName(cluster, named)),
        context.process,
        lambda: cluster.watch.snapshot() is not None,
        days=chosen.warm_days,
    )
    name = f"fill hours from {chosen.name}"
    return Part(tasks=[Task(TaskPhase.WORK, name, filling.run, alone=True)])


class ComputedInThread:
    """The `HourlyComputing`."""

    async def take(self, turns: Iterator[None]) -> None:
        # A thread cannot be stopped: it is asked for one turn at a time.
        while await asyncio.to_thread(_turn, turns):
            pass


def _turn(turns: Iterator[None]) -> bool:
    """Whether there may be another."""
    return next(turns, False) is None


@dataclass(frozen=True, slots=True)
class HourlyOfContainers:
    """The `HourlyAdvice` of updating."""

    requests: HourlyRequests

    def want(self, containers: Collection[tuple[SizedWorkload, str]]) -> None:
        self.requests.want([ContainerKey(*workload, name) for workload, name in containers])

    def of(self, workload: SizedWorkload, container: str) -> HourlyAmount | None:
        found = self.requests.of(ContainerKey(*workload, container))
        if found is None:
            return None
        target = None if found.millis is None else parse_quantity(f"{found.millis}m")
        return HourlyAmount(strategy=STRATEGY, target=target, reason=found.reason)
