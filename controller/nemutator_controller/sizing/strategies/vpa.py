"""The Vertical Pod Autoscaler: decaying histograms, and its updater's rules for a change.

Samples of all pods go into one histogram of CPU, and the largest peak of each pod and day into one of memory.
A sample counts half after a day. What is requested moves where it leaves the bounds, which close with
the days of data, or, after twelve hours, where it is a tenth away from the target.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from nemutator_controller.sizing.buckets import MEMORY, VPA_CPU, Buckets
from nemutator_controller.sizing.strategies.recorded_use import DAY_HOURS, Numbers, RecordedUse

PERCENTILE = 0.9
LOWER, UPPER = 0.5, 0.95
MARGIN = 1.15
SAMPLE_WEIGHT = 0.1
PEAK_WEIGHT = 1.0
PEAK_DAYS = 8
SAMPLES_A_DAY = 1440
LEAST_CORES = 0.025
LEAST_BYTES = 250 * 2**20
FAR = 0.1
LONG_HOURS = 12


@dataclass(slots=True)
class DecayingHistogram:
    buckets: Buckets
    weights: Numbers = field(init=False)

    def __post_init__(self) -> None:
        self.weights = np.zeros(self.buckets.count)

    def add(self, values: Numbers, weights: Numbers) -> None:
        np.add.at(self.weights, self.buckets.index(values), weights)

    def age(self, hours: float) -> None:
        self.weights *= 0.5 ** (hours / DAY_HOURS)

    def percentile(self, share: float) -> float:
        """The upper edge of the bucket in which *share* of the weight is reached."""
        total = self.weights.sum()
        if not total:
            return 0.0
        reached = np.searchsorted(np.cumsum(self.weights), share * total)
        last = int(np.flatnonzero(self.weights)[-1])
        return float(self.buckets.edges()[min(int(reached), last)])


def cpu(use: RecordedUse, percentile: float = PERCENTILE) -> Numbers:
    """Cores to request in each hour, from the hours before."""
    histogram = DecayingHistogram(VPA_CPU)
    age = (np.arange(use.per_hour) + 1 - use.per_hour) / use.per_hour / DAY_HOURS
    weights = SAMPLE_WEIGHT * 2.0**age
    targets, lowers, uppers = (np.full(use.hours, np.nan) for _ in range(3))
    samples = 0
    for hour, pods in enumerate(use.hourly().transpose(1, 0, 2)):
        if samples:
            known = _confidence(hour, samples * use.step_s / 60)
            targets[hour] = _least(histogram.percentile(percentile), LEAST_CORES)
            lowers[hour] = _least(histogram.percentile(LOWER), 0.0) * (1 + 0.001 / known) ** -2
            uppers[hour] = _least(histogram.percentile(UPPER), LEAST_CORES) * (1 + 1 / known)
        seen = ~np.isnan(pods)
        histogram.age(1)
        histogram.add(pods[seen], np.broadcast_to(weights, pods.shape)[seen])
        samples += int(seen.any(axis=0).sum())
    return updated(targets, lowers, uppers)


def memory(use: RecordedUse, margin: float = MARGIN) -> Numbers:
    """Bytes to request in each hour, from the peaks of the days before and of the day that has begun; *margin* stands for what its
    recommender takes as `--recommendation-margin-fraction`, and moves its bounds, too."""
    hourly = use.hourly()
    targets, lowers, uppers = (np.full(use.hours, np.nan) for _ in range(3))
    days = math.ceil(use.hours / DAY_HOURS)
    for hour in range(1, use.hours):
        histogram = DecayingHistogram(MEMORY)
        today = hour // DAY_HOURS
        for day in range(max(0, today - PEAK_DAYS + 1), min(today + 1, days)):
            begun = hourly[:, day * DAY_HOURS : min((day + 1) * DAY_HOURS, hour)]
            if not begun.size:
                continue
            peaks = np.fmax.reduce(begun, axis=(1, 2))
            peaks = peaks[~np.isnan(peaks)]
            histogram.add(peaks, np.full(len(peaks), PEAK_WEIGHT * 2.0 ** (day - today)))
        if not histogram.weights.any():
            continue
        known = _confidence(hour, hour * 60)
        targets[hour] = _least(histogram.percentile(PERCENTILE), LEAST_BYTES, margin)
        lowers[hour] = _least(histogram.percentile(LOWER), 0.0, margin) * (1 + 0.001 / known) ** -2
        uppers[hour] = _least(histogram.percentile(UPPER), LEAST_BYTES, margin) * (1 + 1 / known)
    return updated(targets, lowers, uppers)


def updated(targets: Numbers, lowers: Numbers, uppers: Numbers) -> Numbers:
    """What is requested in each hour where pods that run are resized by the updater's rules."""
    requested = np.full(len(targets), np.nan)
    now, since = math.nan, 0
    for hour, (target, lower, upper) in enumerate(zip(targets, lowers, uppers, strict=True)):
        if math.isnan(now):
            now, since = target, hour
        elif not math.isnan(target):
            far = abs(target - now) >= FAR * now and hour - since >= LONG_HOURS
            if far or not lower <= now <= upper:
                now = target
        requested[hour] = now
    return requested


def _least(amount: float, least: float, margin: float = MARGIN) -> float:
    return max(amount * margin, least)


def _confidence(hours: float, samples: float) -> float:
    """In days, or in samples of a minute where there are fewer."""
    return min(hours / DAY_HOURS, samples / SAMPLES_A_DAY)
