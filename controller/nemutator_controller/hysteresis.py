"""From scores that waver to grades that stay: up after two looks, down after five and a clear step."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

UP_TIMES = 2
DOWN_TIMES = 5
DOWN_BELOW = 0.75
"""A score has to be this far below the grade above, so that one that wavers around a bound changes nothing: grade 2
is left for 1 below 1.75."""


@dataclass(slots=True)
class _Held:
    grade: int = 0
    above: int = 0
    """Looks in a row in which the score was in a higher grade."""
    least_above: int = 0
    below: int = 0
    most_below: int = 0


@dataclass(slots=True)
class HeldGrades(Generic[K]):
    """Of those alone whose grade is or was lately above 0."""

    _held: dict[K, _Held] = field(default_factory=dict, init=False)

    def assess(self, scores: Mapping[K, float]) -> None:
        """Take one more look at those of *scores*: of all others everything stays."""
        for key, score in scores.items():
            held = self._held.get(key)
            if held is None:
                if score < 1.0:
                    continue
                held = self._held[key] = _Held()
            _step(held, score)
            if held.grade == 0 and held.above == 0:
                del self._held[key]

    def grade(self, key: K) -> int:
        held = self._held.get(key)
        return 0 if held is None else held.grade

    def __iter__(self) -> Iterator[K]:
        return iter(self._held)

    def forget(self, key: K) -> None:
        self._held.pop(key, None)

    def __len__(self) -> int:
        return len(self._held)


def _step(held: _Held, score: float) -> None:
    wanted = min(int(score), 4)
    if wanted > held.grade:
        held.least_above = min(wanted, held.least_above) if held.above else wanted
        held.above, held.below = held.above + 1, 0
        if held.above >= UP_TIMES:
            held.grade, held.above = held.least_above, 0
    elif score < held.grade - (1 - DOWN_BELOW) and held.grade > 0:
        lower = min(int(score + (1 - DOWN_BELOW)), held.grade - 1)
        held.most_below = max(lower, held.most_below) if held.below else lower
        held.below, held.above = held.below + 1, 0
        if held.below >= DOWN_TIMES:
            held.grade, held.below = held.most_below, 0
    else:
        held.above = held.below = 0
