"""Reads what containers used from Prometheus. A `UsageSource`.

A day is asked for at once, for all pods, as long as the answer is one that both sides can hold; else the namespaces
are divided, and of one that is too large the day. Nobody is asked for weeks in one expression: subqueries over weeks
have ended Prometheus servers.
"""

import math
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping
from dataclasses import dataclass, field, replace

from nemutator_controller.prometheus_answers import (
    PrometheusAnswer,
    PrometheusRefusedError,
    PrometheusTooMuchError,
    PrometheusUnavailableError,
)
from nemutator_controller.sizing.keys import ContainerKey, Requested
from nemutator_controller.sizing.sources import queries
from nemutator_controller.sizing.sources.named_owners import NamedOwners, requests_of
from nemutator_controller.sizing.sources.ports import PrometheusQueries
from nemutator_controller.sizing.sources.recorded_steps import (
    RecordedSteps,
    SourceUnavailableError,
    StepGrid,
    recorded_steps,
)

DAY_S = 86_400
MOST_SAMPLES = 400_000
"""Of one answer: 11 MB."""


COUNTED_EVERY_S = 3_600
"""So often it is asked which namespaces had containers: some come and go within a day."""


@dataclass(frozen=True, slots=True)
class _Counted:
    series: Mapping[str, int]
    """By namespace, so many at once."""
    whole: bool
    """Something was there at the first of the moments, and at the last one."""


@dataclass(slots=True)
class PrometheusReading:
    prometheus: PrometheusQueries
    owners: NamedOwners
    """Learns of each day whose its pods were."""
    namespace: str | None = None
    """Only this one."""
    most_samples: int = MOST_SAMPLES
    dropped: dict[str, int] = field(default_factory=dict, init=False)
    warnings: list[str] = field(default_factory=list, init=False)

    async def steps(
        self, *, begin: float, end: float, namespaces: Collection[str] | None = None
    ) -> AsyncIterator[RecordedSteps]:
        step_s = queries.WINDOW_S
        first, last = int(begin // step_s) * step_s, int(end // step_s) * step_s
        for day in range(first, last, DAY_S):
            until = min(day + DAY_S, last)
            recorded, found = await self._series(day, until)
            series = queries.only(found, namespaces)
            if series:
                await self._learn_owners(until)
            for shard in queries.shards(series, most=self.most_samples // (DAY_S // step_s)):
                count = max(1, min(DAY_S // step_s, self.most_samples // max(1, shard.series)))
                for at in range(day, until, count * step_s):
                    grid = StepGrid(at, step_s, min(count, (until - at) // step_s))
                    names = shard.namespaces
                    if names is None and namespaces is not None:
                        names = tuple(sorted(series))
                    # Older steps first, and a part of them where all are too many for one side.
                    parts = [(names, grid)]
                    while parts:
                        some, span = parts.pop()
                        try:
                            steps = await self._read(some, span, recorded=recorded)
                        except PrometheusTooMuchError as error:
                            halves = _halves(some or tuple(sorted(series)), span)
                            if not halves:
                                raise SourceUnavailableError(str(error)) from error
                            parts += reversed(halves)
                        else:
                            yield steps

    async def requested(self) -> Mapping[ContainerKey, Requested]:
        """What containers request now; nothing where kube-state-metrics is not scraped."""
        answer = await self.ask(queries.requests())
        return requests_of(answer.series, self.owners)

    async def series_in(self, begin: float, end: float) -> Mapping[str, int]:
        """How many containers each namespace had at once in that time, at most."""
        return (await self._counted(begin, end, recorded=False)).series

    async def _series(self, begin: float, end: float) -> tuple[bool, Mapping[str, int]]:
        """Whether rules had recorded what was used in that time, and how many containers each namespace had."""
        ready = await self._counted(begin, end, recorded=True)
        if ready.whole:
            return True, ready.series
        # Of rules that began within that time what was before is not known.
        raw = await self._counted(begin, end, recorded=False)
        return (False, raw.series) if raw.series else (bool(ready.series), ready.series)

    async def _counted(self, begin: float, end: float, *, recorded: bool) -> _Counted:
        moments = max(1, math.ceil((end - begin) / COUNTED_EVERY_S))
        step_s = min(COUNTED_EVERY_S, end - begin)
        grid = StepGrid(end - moments * step_s, step_s, moments)
        series: dict[str, int] = {}
        seen: set[float] = set()
        refused: list[PrometheusTooMuchError] = []
        by_metric = queries.counted(recorded=recorded)
        for expression in by_metric:
            try:
                answer = await self._least_counted(expression, grid)
            except PrometheusTooMuchError as error:
                # One of both is enough.
                refused.append(error)
                continue
            for one in answer.series:
                name = one.labels.get("namespace", "")
                if name and self.namespace in (None, name):
                    series[name] = max(series.get(name, 0), int(max(0.0, *one.values)))
                    seen.update(one.at)
        if len(refused) == len(by_metric):
            raise SourceUnavailableError(str(refused[0])) from refused[0]
        return _Counted(series, {grid.first, grid.end} <= seen)

    async def _least_counted(self, expression: str, grid: StepGrid) -> PrometheusAnswer:
        """At all moments, or where that is too much at the last one. Raises `PrometheusTooMuchError`, too."""
        try:
            return await self._range(expression, grid)
        except PrometheusTooMuchError:
            return await self._answered(self.prometheus.query(expression, at=grid.end))

    def named(self, namespaces: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The namespaces to name in a question about these; None: none has to be named."""
        if namespaces is None and self.namespace is not None:
            return (self.namespace,)
        return namespaces

    async def _learn_owners(self, at: float) -> None:
        owners, span_s = self.owners, DAY_S
        pods = await self.ask(queries.owners(queries.POD_OWNER, span_s), at=at)
        owners.learn_pods(pods.series)
        for metric, kind, label in (
            (queries.REPLICA_SET_OWNER, "ReplicaSet", "replicaset"),
            (queries.JOB_OWNER, "Job", "job_name"),
        ):
            if pods.series:
                found = await self.ask(queries.owners(metric, span_s), at=at)
                owners.learn_makers(kind, label, found.series)

    async def _read(
        self, namespaces: tuple[str, ...] | None, grid: StepGrid, *, recorded: bool
    ) -> RecordedSteps:
        asked = queries.usage_expressions(self.named(namespaces), recorded=recorded)
        cores = await self._range(asked.cores, grid)
        memory = await self._range(asked.memory, grid)
        steps = recorded_steps(cores.series, memory.series, grid)
        self._count(steps.dropped)
        return replace(steps, warnings=[*cores.warnings, *memory.warnings])

    async def _range(self, expression: str, grid: StepGrid) -> PrometheusAnswer:
        """Raises `PrometheusTooMuchError`, too."""
        return await self._answered(
            self.prometheus.query_range(
                expression, begin=grid.first, end=grid.end, step_s=grid.step_s
            )
        )

    async def ask(self, expression: str, *, at: float | None = None) -> PrometheusAnswer:
        """Raises `SourceUnavailableError`."""
        try:
            return await self._answered(self.prometheus.query(expression, at=at))
        except PrometheusTooMuchError as error:
            raise SourceUnavailableError(str(error)) from error

    async def _answered(self, question: Awaitable[PrometheusAnswer]) -> PrometheusAnswer:
        try:
            answer = await question
        except PrometheusTooMuchError:
            raise
        except (PrometheusUnavailableError, PrometheusRefusedError) as error:
            raise SourceUnavailableError(str(error)) from error
        self._count(answer.dropped)
        for one in answer.warnings:
            if one not in self.warnings and len(self.warnings) < 10:
                self.warnings.append(one)
        return answer

    def _count(self, dropped: Mapping[str, int]) -> None:
        for reason, number in dropped.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + number


def _halves(
    namespaces: tuple[str, ...], grid: StepGrid
) -> list[tuple[tuple[str, ...] | None, StepGrid]]:
    """Empty: it cannot be divided."""
    if len(namespaces) > 1:
        middle = len(namespaces) // 2
        return [(namespaces[:middle], grid), (namespaces[middle:], grid)]
    if grid.count < 2:
        return []
    first = replace(grid, count=grid.count // 2)
    second = StepGrid(first.end, grid.step_s, grid.count - first.count)
    return [(namespaces, first), (namespaces, second)]
