"""Reads what containers used from Datadog. A `UsageSource`.

A day is one question for both figures of all containers, as long as the answer is one that both sides can hold; else
the namespaces are divided, and of one that is too large the day. It gives no more than 1500 points of a series, of
which a day has 288, and no pages. How often it may be asked, it says with each answer: when nothing is left it is
left alone until the period is over.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from nemutator_common.clocks import Clock

from nemutator_controller.prometheus_answers import PrometheusSeries
from nemutator_controller.sizing.keys import ContainerKey, Requested
from nemutator_controller.sizing.sources import datadog_questions as questions
from nemutator_controller.sizing.sources import queries
from nemutator_controller.sizing.sources.datadog_answers import (
    DatadogAnswer,
    DatadogBusyError,
    DatadogRefusedError,
    DatadogUnavailableError,
)
from nemutator_controller.sizing.sources.datadog_questions import DatadogQuestion
from nemutator_controller.sizing.sources.named_owners import NamedOwners, requests_of
from nemutator_controller.sizing.sources.ports import DatadogQueries
from nemutator_controller.sizing.sources.queries import WINDOW_S, shards
from nemutator_controller.sizing.sources.recorded_steps import (
    RecordedSteps,
    SourceUnavailableError,
    StepGrid,
    recorded_steps,
)

DAY_S = 86_400
MOST_SAMPLES = 400_000
"""Of one figure in one answer: both are some 12 MB."""

LATELY_S = 3_600
"""What containers request now is what they did within so long."""

TRIES = 3
"""Of one question that came too often: others may ask with the same keys."""

_CORES, _BYTES = "nanocore", "byte"
_LABELS = {
    questions.NAMESPACE: "namespace",
    questions.POD: "pod",
    questions.CONTAINER: "container",
}
_KINDS = {
    one.lower(): one
    for one in ("ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Rollout")
}
"""It writes them in small letters."""


@dataclass(slots=True)
class DatadogReading:
    datadog: DatadogQueries
    owners: NamedOwners
    """Learns of each answer whose its pods were."""
    clock: Clock
    _: KW_ONLY
    cluster: str = ""
    """Its name there; empty: all that is told belongs to one."""
    namespace: str | None = None
    """Only this one."""
    longest_wait_s: float
    """Until it may be asked again; where that is longer, it is unavailable."""
    most_samples: int = MOST_SAMPLES
    dropped: dict[str, int] = field(default_factory=dict, init=False)
    warnings: list[str] = field(default_factory=list, init=False)
    _rests_until: float = field(default=0.0, init=False)

    async def steps(
        self, *, begin: float, end: float, namespaces: Collection[str] | None = None
    ) -> AsyncIterator[RecordedSteps]:
        first, last = int(begin // WINDOW_S) * WINDOW_S, int(end // WINDOW_S) * WINDOW_S
        for day in range(first, last, DAY_S):
            until = min(day + DAY_S, last)
            series = queries.only(await self._running(day, until), namespaces)
            for shard in shards(series, most=self.most_samples // (DAY_S // WINDOW_S)):
                count = max(1, min(DAY_S // WINDOW_S, self.most_samples // max(1, shard.series)))
                for at in range(day, until, count * WINDOW_S):
                    grid = StepGrid(at, WINDOW_S, min(count, (until - at) // WINDOW_S))
                    names = shard.namespaces
                    if names is None and namespaces is not None:
                        names = tuple(sorted(series))
                    yield await self._read(names, grid)

    async def requested(self) -> Mapping[ContainerKey, Requested]:
        """What containers request now."""
        end = self.clock.now() // WINDOW_S * WINDOW_S
        asked = questions.requests(self._scope(self._named(None)), step_s=LATELY_S)
        answer = await self._ask(asked, end - LATELY_S, end, LATELY_S, units=("core", _BYTES))
        found = [
            replace(one, labels={**_labels(one.labels), "resource": resource})
            for resource, series in zip(("cpu", "memory"), answer.series, strict=True)
            for one in series
        ]
        return requests_of(found, self.owners)

    async def _running(self, begin: float, end: float) -> Mapping[str, int]:
        """How many containers each namespace had in that time, as far as one can say."""
        asked = questions.running(self._scope(self._named(None)), step_s=DAY_S)
        answer = await self._ask(asked, begin, end, DAY_S, units=("",))
        names = {
            one.labels.get(questions.NAMESPACE, ""): int(max(1.0, *one.values))
            for series in answer.series
            for one in series
        }
        return {name: count for name, count in names.items() if questions.is_value(name)}

    async def _read(self, namespaces: tuple[str, ...] | None, grid: StepGrid) -> RecordedSteps:
        asked = questions.usage(self._scope(self._named(namespaces)), step_s=WINDOW_S)
        answer = await self._ask(asked, grid.begin, grid.end, WINDOW_S, units=(_CORES, _BYTES))
        cores, memory = answer.series
        self.owners.learn_pods(_owned(memory))
        # A moment is where its step begins; ours are where they end.
        steps = recorded_steps(_ending(cores), _ending(memory), grid)
        self._count(steps.dropped)
        return steps

    def _named(self, namespaces: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if namespaces is None and self.namespace is not None:
            return (self.namespace,)
        return namespaces

    def _scope(self, namespaces: Iterable[str] | None) -> str:
        try:
            return questions.scope_of(self.cluster, namespaces)
        except ValueError as error:
            raise SourceUnavailableError(str(error)) from error

    async def _ask(
        self, queries: Sequence[str], begin: float, end: float, step_s: int, *, units: Sequence[str]
    ) -> DatadogAnswer:
        question = DatadogQuestion(queries=queries, begin=begin, end=end, step_s=step_s)
        for left in range(TRIES - 1, -1, -1):
            await self._rest()
            try:
                answer = await self.datadog.ask(question, units=units)
            except (DatadogUnavailableError, DatadogRefusedError) as error:
                raise SourceUnavailableError(str(error)) from error
            except DatadogBusyError as error:
                self._rests_until = self.clock.monotonic() + error.wait_s
                if not left or error.wait_s > self.longest_wait_s:
                    raise SourceUnavailableError(str(error)) from error
                continue
            self._rests_until = self.clock.monotonic() + answer.pause_s
            self._count(answer.dropped)
            return answer
        raise AssertionError("a last try returns or raises")

    async def _rest(self) -> None:
        wait_s = self._rests_until - self.clock.monotonic()
        if wait_s > self.longest_wait_s:
            raise SourceUnavailableError(str(DatadogBusyError(wait_s)))
        if wait_s > 0:
            await self.clock.sleep(wait_s)

    def _count(self, dropped: Mapping[str, int]) -> None:
        for reason, number in dropped.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + number


def _labels(tags: Mapping[str, str]) -> dict[str, str]:
    return {label: tags[tag] for tag, label in _LABELS.items() if tag in tags}


def _ending(found: Iterable[PrometheusSeries]) -> list[PrometheusSeries]:
    return [
        PrometheusSeries(_labels(one.labels), [at + WINDOW_S for at in one.at], one.values)
        for one in found
    ]


def _owned(found: Iterable[PrometheusSeries]) -> list[PrometheusSeries]:
    """As kube-state-metrics says it; of a pod without an owner there, nothing is said."""
    return [
        replace(
            one,
            labels={
                **_labels(one.labels),
                "owner_kind": _KINDS.get(kind, kind),
                "owner_name": one.labels[questions.OWNER_NAME],
            },
        )
        for one in found
        if (kind := one.labels.get(questions.OWNER_KIND, ""))
        and one.labels.get(questions.OWNER_NAME)
    ]
