import math

from nemutator_controller.prometheus_answers import PrometheusAnswer, PrometheusSeries
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.prometheus_reading import DAY_S, PrometheusReading
from nemutator_controller.sizing.sources.recorded_steps import PodContainer
from nemutator_controller.sizing.sources.seed_reading import SeedReading

APP = {"namespace": "shop", "pod": "cart-1", "container": "app"}
OTHER = {"namespace": "shop", "pod": "cart-2", "container": "app"}


class Days:
    """A `PrometheusQueries` with what each day was: its largest, its average and its points."""

    def __init__(self, **figures: tuple[float, ...]) -> None:
        self.figures = figures
        self.asked: list[tuple[str, float]] = []

    async def query(self, expression: str, *, at: float | None = None) -> PrometheusAnswer:
        assert at is not None
        self.asked.append((expression, at))
        day = int(at // DAY_S)
        for name, values in self.figures.items():
            if f"({name}_over_time(" in expression:
                return self._answer(
                    at, (APP, values[day - 1]), (OTHER, math.inf), ({"namespace": "shop"}, 1.0)
                )
        raise AssertionError(expression)

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer:
        assert expression.startswith("count by")
        self.asked.append((expression, end))
        return self._answer(end, ({"namespace": "shop"}, 2.0))

    def _answer(self, at: float, *rows: tuple[dict[str, str], float]) -> PrometheusAnswer:
        return PrometheusAnswer([PrometheusSeries(of, [at], [value]) for of, value in rows])


async def test_each_day_is_a_question_and_they_are_put_together() -> None:
    days = Days(max=(3.0, 5.0), avg=(1.0, 2.0), count=(100.0, 300.0))
    reading = SeedReading(PrometheusReading(days, NamedOwners(), namespace="shop"))
    await reading.read(begin=0.0, end=2.0 * DAY_S)
    # What nobody can have used is not believed, and neither is what names no container.
    [(of, one)] = reading.cores.items()
    assert of == PodContainer("shop", "cart-1", "app")
    assert (one.largest, one.average, one.points) == (5.0, 1.75, 400.0)
    assert set(reading.memory) == {of}
    # Two days of six figures, and of how many there are, by both metrics.
    assert len(days.asked) == 2 * 8
    assert all('namespace=~"shop"' in text for text, _ in days.asked if "over_time" in text)


async def test_where_nothing_ran_nothing_is_asked() -> None:
    days = Days(max=(0.0,), avg=(0.0,), count=(0.0,))
    reading = SeedReading(PrometheusReading(days, NamedOwners(), namespace="elsewhere"))
    await reading.read(begin=0.0, end=1.0 * DAY_S)
    assert (reading.cores, reading.memory, len(days.asked)) == ({}, {}, 2)
