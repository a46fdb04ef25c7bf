"""Use of memory that is made up, because no such recordings are free: levels with a day's season, growth after deploys, and
rare peaks; and what somebody would request who knows all of that but the luck, below which nobody can be but by luck."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from nemutator_controller.sizing.outcomes import OOM_DAYS, Outcome, outcome_at
from nemutator_controller.sizing.strategies.known import SizingStrategy
from nemutator_controller.sizing.strategies.recorded_use import Numbers, RecordedUse

STEP_S = 300
PER_DAY = 288
PER_HOUR = 12
MADE_UP = 60
DAYS = 21

NOISE = 0.02
PEAK = 0.3
"""Times the level, on average; more by an exponential distribution."""

PRICES = tuple(np.geomspace(0.5, 60, 60).tolist())
"""What a day with a kill costs, in days of the level."""
ABOVE_NOISE = 4.0
"""Times the noise's deviation; with 2.5 to 3.5 it costs more."""


@dataclass(frozen=True, slots=True, eq=False)
class MadeUpUse:
    use: RecordedUse
    level: float
    expected: Numbers
    """By step, without noise and peaks."""
    peaks_a_day: float

    def known(self, price: float) -> Numbers:
        """What is cheapest in each hour with peaks that come so often, and are so large."""
        above = PEAK * math.log(max(1.0, price * self.peaks_a_day / PEAK))
        hours = self.expected.reshape(-1, PER_HOUR).max(axis=1)
        return np.asarray(hours + self.level * (NOISE * ABOVE_NOISE + above), dtype=np.float64)


def made_up(seed: int) -> list[MadeUpUse]:
    random = np.random.default_rng(seed)
    found = []
    for number in range(MADE_UP):
        steps = np.arange(DAYS * PER_DAY)
        level = 10 ** random.uniform(8.3, 9.7)
        season = random.uniform(0, 0.4) * np.sin(2 * np.pi * steps / PER_DAY)
        since_deploy = steps % int(random.uniform(2, 9) * PER_DAY)
        growth = random.uniform(0, 0.3) * (1 - np.exp(-since_deploy / (PER_DAY / 2)))
        noise = random.normal(0, NOISE, len(steps))
        at = random.random(len(steps))
        peaks_a_day = random.uniform(0, 0.5)
        rare = at < peaks_a_day / PER_DAY
        peaks = np.where(rare, random.exponential(PEAK, len(steps)), 0.0)
        pods = level * np.maximum(0.05, 1 + season + growth + noise + peaks)
        use = RecordedUse(f"made up {number}", STEP_S, pods[np.newaxis])
        found.append(MadeUpUse(use, level, level * (1 + season + growth), peaks_a_day))
    return found


def known_at_days(made: Sequence[MadeUpUse]) -> Outcome | None:
    """With the price at which as many days have a kill as those by which strategies are compared."""
    of = {id(one.use): one for one in made}
    strategy = SizingStrategy(lambda use, price: of[id(use)].known(price), PRICES[0], PRICES)
    return outcome_at("known", strategy, "memory", [one.use for one in made], missed=OOM_DAYS)
