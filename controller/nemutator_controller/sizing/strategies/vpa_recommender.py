"""The Vertical Pod Autoscaler's recommender, sample by sample: from the same samples the same amounts, to the last
bucket and the last digit of what it rounds.

`vpa.py` beside this replays its rules in hours of many pods; here each sample has its own time, as its recommender
gets them from the metrics server, and kills for memory are heeded. `make bench NAME=sizing` holds both against VPA's
own code.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from nemutator_controller.sizing.buckets import MEMORY, VPA_CPU, Buckets

DAY_S = 86_400.0
EPSILON = 1e-4
CPU_WEIGHT, MEMORY_WEIGHT = 0.1, 1.0
MOST_HALF_LIVES = 100
MARGIN = 0.15
LEAST_MILLIS, LEAST_BYTES = 25, 250 << 20
TARGET, LOWER, UPPER = 0.9, 0.5, 0.95
KILL_RATIO, KILL_BYTES = 1.2, 100 << 20
LARGEST = 10**14
"""The largest amount that it knows."""

Side = Literal["target", "lower", "upper"]
_SHARES: dict[Side, float] = {"target": TARGET, "lower": LOWER, "upper": UPPER}


class VpaAmounts(NamedTuple):
    cpu_millis: int
    memory_bytes: int


class VpaSample(NamedTuple):
    at: float
    cores: float
    memory_bytes: float
    is_killed: bool = False


def amount(number: float) -> int:
    """As it rounds: down, and never beyond its largest."""
    return min(LARGEST, math.floor(max(0.0, number)) if math.isfinite(number) else LARGEST)


def scaled(whole: int, factor: float) -> int:
    # Nothing times infinity is no number, and Go makes the least of that.
    product = whole * factor
    return 0 if math.isnan(product) else amount(product)


@dataclass(slots=True)
class VpaHistogram:
    buckets: Buckets
    weights: list[float] = field(init=False)
    total: float = field(default=0.0, init=False)
    reference_at: float = field(default=-math.inf, init=False)
    _least: int = field(init=False)
    _most: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.weights = [0.0] * self.buckets.count
        self._least = self.buckets.count - 1

    def add(self, value: float, weight: float, at: float) -> None:
        weight *= self._grown(at)
        bucket = self._bucket(value)
        self.weights[bucket] += weight
        self.total += weight
        if self.weights[bucket] >= EPSILON:
            self._least, self._most = min(self._least, bucket), max(self._most, bucket)

    def subtract(self, value: float, weight: float, at: float) -> None:
        weight *= self._grown(at)
        bucket = self._bucket(value)
        self.weights[bucket] = _less(self.weights[bucket], weight)
        self.total = _less(self.total, weight)
        self._narrow()

    def percentile(self, share: float) -> float:
        if self.weights[self._least] < EPSILON:
            return 0.0
        wanted, reached = share * self.total, 0.0
        bucket = self._least
        while bucket < self._most:
            reached += self.weights[bucket]
            if reached >= wanted:
                break
            bucket += 1
        return _start(self.buckets, min(bucket + 1, self.buckets.count - 1))

    def _bucket(self, value: float) -> int:
        if value < self.buckets.first:
            return 0
        growth = self.buckets.ratio - 1
        position = math.log(value * growth / self.buckets.first + 1) / math.log(self.buckets.ratio)
        return min(int(position), self.buckets.count - 1)

    def _grown(self, at: float) -> float:
        """How much more a sample of that time weighs than one of the reference."""
        if at > self.reference_at + MOST_HALF_LIVES * DAY_S:
            moved_to = math.floor(at / DAY_S + 0.5) * DAY_S
            halvings = (moved_to - self.reference_at) / DAY_S
            factor = 0.0 if math.isinf(halvings) else 2.0 ** -math.floor(halvings + 0.5)
            self.weights = [one * factor for one in self.weights]
            self.total *= factor
            self.reference_at = moved_to
            self._narrow()
        return float(2.0 ** ((at - self.reference_at) / DAY_S))

    def _narrow(self) -> None:
        last = self.buckets.count - 1
        while self.weights[self._least] < EPSILON and self._least < last:
            self._least += 1
        while self.weights[self._most] < EPSILON and self._most > 0:
            self._most -= 1


def _start(buckets: Buckets, bucket: int) -> float:
    """Where it begins, to the last digit as Go computes powers: by squares."""
    power, square = 1.0, buckets.ratio
    while bucket:
        if bucket & 1:
            power *= square
        square *= square
        bucket >>= 1
    return buckets.first * (power - 1) / (buckets.ratio - 1)


def _less(weight: float, taken: float) -> float:
    rest = weight - taken
    return rest if rest >= EPSILON else 0.0


@dataclass(slots=True)
class VpaContainer:
    """All that its recommender keeps of one container in a pod of its own."""

    cpu: VpaHistogram = field(default_factory=lambda: VpaHistogram(VPA_CPU), init=False)
    peaks: VpaHistogram = field(default_factory=lambda: VpaHistogram(MEMORY), init=False)
    _first_at: float = field(default=math.nan, init=False)
    _last_at: float = field(default=-math.inf, init=False)
    _samples: int = field(default=0, init=False)
    _window_end: float = field(default=math.nan, init=False)
    _memory_at: float = field(default=-math.inf, init=False)
    _peak: int = field(default=0, init=False)
    _kill_peak: int = field(default=0, init=False)

    def take(self, samples: Iterable[VpaSample]) -> None:
        """In the order of their times."""
        for one in samples:
            self._take_cpu(one.at, amount(one.cores * 1_000))
            memory = amount(one.memory_bytes)
            self._take_memory(one.at, memory)
            if one.is_killed:
                self.kill(one.at, memory)

    def kill(self, at: float, requested_bytes: int) -> None:
        """It was killed for memory, of which it requested so much."""
        if at < self._memory_at - DAY_S:
            return
        had = max(requested_bytes, self._peak)
        needed = max(amount(had + KILL_BYTES), scaled(had, KILL_RATIO))
        self._take_memory(at, needed, is_kill=True)

    def recommend(self, side: Side = "target", *, containers: int = 1) -> VpaAmounts:
        """*containers*: of the pod, which share its least amounts."""
        share = _SHARES[side]
        cpu = _with_margin(amount(self.cpu.percentile(share) * 1_000))
        memory = _with_margin(amount(self.peaks.percentile(share)))
        factor = self._factor(side)
        return VpaAmounts(
            max(scaled(cpu, factor), scaled(LEAST_MILLIS, 1 / containers)),
            max(scaled(memory, factor), scaled(LEAST_BYTES, 1 / containers)),
        )

    def _factor(self, side: Side) -> float:
        if side == "target":
            return 1.0
        days = (self._last_at - self._first_at) / DAY_S if self._samples else 0.0
        known = min(days, self._samples / 1_440)
        multiplier, exponent = (1.0, 1.0) if side == "upper" else (0.001, -2.0)
        if known <= 0:
            return math.inf if side == "upper" else 0.0
        return float((1 + multiplier / known) ** exponent)

    def _take_cpu(self, at: float, millis: int) -> None:
        if at <= self._last_at:
            return
        self.cpu.add(millis / 1_000, CPU_WEIGHT, at)
        self._last_at = at
        self._first_at = at if math.isnan(self._first_at) else self._first_at
        self._samples += 1

    def _take_memory(self, at: float, used: int, *, is_kill: bool = False) -> None:
        if at < self._memory_at and not is_kill:
            return
        self._memory_at = at
        if math.isnan(self._window_end):
            self._window_end = at
        if at < self._window_end:
            before = max(self._peak, self._kill_peak)
            if not before or used <= before:
                return
            self.peaks.subtract(float(before), MEMORY_WEIGHT, self._window_end)
        else:
            whole = math.floor((at - self._window_end) / DAY_S) * DAY_S
            self._window_end += whole + DAY_S
            self._peak = self._kill_peak = 0
        self.peaks.add(float(used), MEMORY_WEIGHT, self._window_end)
        if is_kill:
            self._kill_peak = used
        else:
            self._peak = used


def _with_margin(base: int) -> int:
    return base + scaled(base, MARGIN)
