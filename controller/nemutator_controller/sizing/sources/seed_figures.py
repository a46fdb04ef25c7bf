"""What the first nemutator made of its questions to Prometheus: the average and a tenth to request, the maximum and a
third to limit. Days are put together so that they say what one question over all of them would: pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from nemutator_controller.sizing.documents import Advice, Confidence, RecommendedAmounts
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.ports import PodKeys
from nemutator_controller.sizing.sources.recorded_steps import PodContainer
from nemutator_controller.sizing.sources.side_by_side import whole_above
from nemutator_controller.sizing.strategies.seed import LIMIT_TIMES, REQUEST_TIMES

SEED = "seed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedFigures:
    """Of one container, or of one resource of it in one day."""

    largest: float
    total: float
    """Of all points."""
    points: float

    @property
    def average(self) -> float:
        return self.total / self.points

    def beside(self, other: "SeedFigures") -> "SeedFigures":
        """Of both times together."""
        return SeedFigures(
            largest=max(self.largest, other.largest),
            total=self.total + other.total,
            points=self.points + other.points,
        )


ByPod = Mapping[PodContainer, SeedFigures]


def by_seed(advice: Iterable[Advice], cores: ByPod, memory: ByPod, keys: PodKeys) -> list[Advice]:
    """The rows of *advice* with what the first nemutator would have said."""
    sides = [_of_workloads(cores, keys), _of_workloads(memory, keys)]
    return [_row(one, *(side.get(_key(one)) for side in sides)) for one in advice]


def _key(advice: Advice) -> ContainerKey:
    return ContainerKey(advice.namespace, advice.owner_kind, advice.owner, advice.container)


def _of_workloads(figures: ByPod, keys: PodKeys) -> dict[ContainerKey, tuple[float, float]]:
    """Of the pod that has most: its average, and its largest."""
    found: dict[ContainerKey, tuple[float, float]] = {}
    for of, one in figures.items():
        key = keys.of(of.namespace, of.pod, of.container)
        if key is not None:
            average, largest = found.get(key, (0.0, 0.0))
            found[key] = max(average, one.average), max(largest, one.largest)
    return found


def _row(
    advice: Advice, cores: tuple[float, float] | None, memory: tuple[float, float] | None
) -> Advice:
    is_known = cores is not None or memory is not None
    return msgspec.structs.replace(
        advice,
        strategy=SEED,
        state="firm" if is_known else "not_yet",
        reason="" if is_known else f"{SEED} says nothing with so little data",
        requests=RecommendedAmounts(
            cpu=None if cores is None else _millis(cores[0] * REQUEST_TIMES),
            memory=None if memory is None else str(whole_above(memory[0] * REQUEST_TIMES)),
        ),
        limits=RecommendedAmounts(
            cpu=None if cores is None else _millis(cores[1] * LIMIT_TIMES),
            memory=None if memory is None else str(whole_above(memory[1] * LIMIT_TIMES)),
        ),
        lower=RecommendedAmounts(),
        upper=RecommendedAmounts(),
        confidence=Confidence(),
    )


def _millis(cores: float) -> str:
    return f"{whole_above(cores * 1_000)}m"
