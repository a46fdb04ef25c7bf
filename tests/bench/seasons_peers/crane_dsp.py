"""Crane's DSP forecast, our own writing of its published arithmetic (gocrane/crane, `pkg/prediction/dsp`).

A period of a day or a week counts where the spectrum has a line above what random orders of the same values have,
on a hill of the circular autocorrelation. The next period is the series' Fourier sum with few lines, as it was in
the last period, with a margin, or the most of the same time in past periods; that estimator is taken which did best
on the last period, where too little counts for more than too much.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Estimator = Callable[[Numbers, int], Numbers]

SHUFFLES = 100
_HILL = 48
"""Slots of four hours, on both sides of a hill of the autocorrelation."""


def forecast(past: Numbers, slots: int, rng: np.random.Generator) -> Numbers:
    """The next *slots*, a day."""
    clean = _clipped(past)
    period = next((one for one in (7 * slots, slots) if _repeats(clean, one, rng)), slots)
    chosen = min(_ESTIMATORS, key=lambda each: _loss(clean, period, each))
    return chosen(clean, period)[:slots]


def low_pass(
    past: Numbers, slots: int, *, lines: int, highest: float, margin: float = 0.0
) -> Numbers:
    """The last period of the Fourier sum of the *lines* largest lines and more, none above *highest* a slot."""
    whole = past[len(past) - len(past) // slots * slots :]
    spectrum = np.fft.rfft(whole)
    amplitude = np.abs(spectrum)
    kept = np.argsort(-amplitude)[: max(lines, 1)]
    mask = np.zeros(len(spectrum), dtype=np.bool_)
    mask[kept] = True
    mask &= np.arange(len(spectrum)) / len(whole) <= highest
    mask[0] = True
    found = np.fft.irfft(np.where(mask, spectrum, 0), n=len(whole))
    period: Numbers = np.maximum(found[-slots:], 0.0) * (1 + margin)
    return period


def _most(past: Numbers, slots: int) -> Numbers:
    whole = past[len(past) - len(past) // slots * slots :]
    period: Numbers = whole.reshape(-1, slots).max(axis=0)
    return period


def _estimator(lines: int, highest: float, margin: float) -> Estimator:
    return lambda past, slots: low_pass(past, slots, lines=lines, highest=highest, margin=margin)


_ESTIMATORS: tuple[Estimator, ...] = (
    *(_estimator(3, 1.0, margin) for margin in (0.0, 0.01, 0.05, 0.1, 0.2)),
    *(_estimator(50, 0.05, margin) for margin in (0.0, 0.01, 0.05, 0.1, 0.2)),
    _most,
)


def _loss(past: Numbers, period: int, estimator: Estimator) -> float:
    if len(past) < 2 * period:
        return np.inf
    said, was = estimator(past[:-period], period), past[-period:]
    some = was > 0
    error = (said[some] - was[some]) / was[some]
    # Below: -ln(1 - x) / ln 1.25, which passes all bounds as the forecast goes to nothing.
    below = -np.log(np.clip(1 + np.minimum(error, 0.0), 1e-6, 1.0)) / np.log(1.25)
    return float(np.mean(np.where(error < 0, below, error))) if some.any() else np.inf


def _clipped(past: Numbers) -> Numbers:
    low, high = np.quantile(past, (0.001, 0.999))
    found = past.copy()
    for at in np.flatnonzero((past < low) | (past > high)).tolist():
        found[at] = found[at - 1] if at else np.clip(past[0], low, high)
    return found


def _repeats(past: Numbers, period: int, rng: np.random.Generator) -> bool:
    count = len(past) // period
    if count < 2:
        return False
    whole = past[len(past) - count * period :]
    level = whole - whole.mean()
    amplitude = np.abs(np.fft.rfft(level))
    chance = [np.abs(np.fft.rfft(rng.permutation(level))).max() for _ in range(SHUFFLES)]
    if amplitude[count] <= np.quantile(chance, 0.99):
        return False
    around = np.fft.irfft(np.abs(np.fft.rfft(level)) ** 2, n=len(level))
    left = np.polyfit(np.arange(_HILL), around[period - _HILL : period], 1)[0]
    right = np.polyfit(np.arange(_HILL), np.roll(around, -period)[:_HILL], 1)[0]
    return bool(left > 0 > right)
