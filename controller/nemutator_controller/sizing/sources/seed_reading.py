"""Asks Prometheus what the first nemutator asked it: `max_over_time(rate(x)[v:s])[v:s]`, and the average beside it.

A day at a time, because such a question over weeks has ended Prometheus servers; what days say is put together.
"""

from dataclasses import dataclass, field

from nemutator_controller.prometheus_answers import PrometheusAnswer
from nemutator_controller.sizing.buckets import CPU, MEMORY
from nemutator_controller.sizing.sources import queries
from nemutator_controller.sizing.sources.prometheus_reading import DAY_S, PrometheusReading
from nemutator_controller.sizing.sources.recorded_steps import PodContainer, container_of
from nemutator_controller.sizing.sources.seed_figures import SeedFigures


@dataclass(slots=True)
class SeedReading:
    reading: PrometheusReading
    cores: dict[PodContainer, SeedFigures] = field(default_factory=dict, init=False)
    memory: dict[PodContainer, SeedFigures] = field(default_factory=dict, init=False)

    async def read(self, *, begin: float, end: float) -> None:
        """All of that time. Raises `SourceUnavailableError`."""
        step_s = queries.WINDOW_S
        first, last = int(begin // step_s) * step_s, int(end // step_s) * step_s
        for day in range(first, last, DAY_S):
            until = min(day + DAY_S, last)
            series = await self.reading.series_in(day, until)
            for shard in queries.shards(series, most=self.reading.most_samples):
                names = self.reading.named(shard.namespaces)
                asked = queries.seed_expressions(names, span_s=until - day, step_s=step_s)
                for into, largest, average, points, most in (
                    (self.cores, asked.cpu_max, asked.cpu_avg, asked.cpu_points, CPU.largest),
                    (
                        self.memory,
                        asked.memory_max,
                        asked.memory_avg,
                        asked.memory_points,
                        MEMORY.largest,
                    ),
                ):
                    answers = [
                        _by_pod(await self.reading.ask(one, at=until))
                        for one in (largest, average, points)
                    ]
                    _join(into, *answers, most=most)


def _by_pod(answer: PrometheusAnswer) -> dict[PodContainer, float]:
    found: dict[PodContainer, float] = {}
    for one in answer.series:
        if (of := container_of(one.labels)) is not None:
            found[of] = one.values[-1]
    return found


def _join(
    into: dict[PodContainer, SeedFigures],
    largest: dict[PodContainer, float],
    average: dict[PodContainer, float],
    points: dict[PodContainer, float],
    *,
    most: float,
) -> None:
    for of, value in largest.items():
        count = points.get(of, 0.0)
        # What nobody can have used is left out here as it is of steps.
        if of not in average or not count >= 1.0 or not 0.0 <= value <= most:
            continue
        found = SeedFigures(largest=value, total=average[of] * count, points=count)
        into[of] = into[of].beside(found) if of in into else found
