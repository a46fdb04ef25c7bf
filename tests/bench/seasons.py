"""How well the next day is foretold, and how well peaks are found.

`make bench NAME=seasons`. The sixteen production series of `tests/bench/crane`, at five minutes. Judged are the
last five days of each, each day forecast from those before it alone. How late losses count, and how sharply the
best experts are followed, was chosen on the days before those five, and on nothing else. Peers forecast the same
days from the same values: the median of seven days, Crane's DSP in our own writing, and statsforecast, which is
installed into a temporary environment outside of the repository where that is possible.

A peak is what the same rule finds in the day itself, over an hour's means; it is found when half of it was spent in
peak or surprise. A switch is false when it begins a peak or a surprise that no peak overlaps.
"""

import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from nemutator_controller.seasons.backtests import Backtest
from nemutator_controller.seasons.phases import (
    LARGEST_TROUGH,
    SeasonState,
    day_plan,
    levels_of,
    over_an_hour,
    peaks_of,
    runs,
    stepped,
)
from nemutator_controller.seasons.verdicts import LEAST_DAYS, LEAST_SKILL, verdict_of

from tests.bench.frame import Result, aim
from tests.bench.seasons_peers import crane_dsp

Numbers = npt.NDArray[np.float64]

SERIES = Path(__file__).parent / "crane" / "crane_5min.npz"
PROGRAM = Path(__file__).parent / "seasons_peers" / "statsforecast_program.py"
SLOTS = 288
JUDGED = 5
LEAD = 6
"""Slots: half an hour."""
LIBRARY = "statsforecast"
INSTALLED_WITHIN_S = 600
FORETOLD_WITHIN_S = 1_800

SEASONAL = frozenset({0, 1, 2, 3, 8, 9, 11, 12, 13, 14, 15})
"""Series with a season, as people see them in plots. That of 3 is flat: its trough is three quarters of its peak."""


@dataclass
class Errors:
    """By series, of all judged days."""

    wrong: dict[str, float] = field(default_factory=dict)
    used: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, was: Numbers, said: Numbers) -> None:
        self.wrong[name] = self.wrong.get(name, 0.0) + float(np.abs(was - said).sum())
        self.used[name] = self.used.get(name, 0.0) + float(np.abs(was).sum())

    def summary(self) -> dict[str, float]:
        all_ = [self.wrong[name] / self.used[name] for name in self.wrong]
        return {
            "wape_median": round(float(np.median(all_)), 4),
            "wape_mean": round(float(np.mean(all_)), 4),
        }


def bench() -> Result:
    series = {
        name: _days(values) for name, values in np.load(SERIES).items() if not name.endswith("__t0")
    }
    began = time.process_time()
    ours, coverage, width = _ours(series)
    spent_s = time.process_time() - began
    peaks = _peaks(series)
    rng = np.random.default_rng(18)
    peers: dict[str, object] = {
        "median of 7 days": _peer(series, lambda past: np.median(past[-7:], axis=0)),
        "crane dsp": _peer(series, lambda past: crane_dsp.forecast(past.ravel(), SLOTS, rng)),
        "crane fft 3, margin 0": _peer(
            series, lambda past: crane_dsp.low_pass(past.ravel(), SLOTS, lines=3, highest=1.0)
        ),
        "crane fft 50, margin 0": _peer(
            series, lambda past: crane_dsp.low_pass(past.ravel(), SLOTS, lines=50, highest=0.05)
        ),
    }
    library, why = _library(series)
    peers |= library
    if why:
        peers[LIBRARY] = f"not measured: {why}"
    best_crane = min(_mean(peers[name], "wape_mean") for name in peers if name.startswith("crane"))
    crane_median = min(
        _mean(peers[name], "wape_median") for name in peers if name.startswith("crane")
    )
    library_mean = min((_mean(one, "wape_mean") for one in library.values()), default=None)
    library_median = min((_mean(one, "wape_median") for one in library.values()), default=None)
    mine = ours.summary()
    false = peaks["false switches a week"]
    return Result(
        measured={
            **mine,
            "by_series": {
                name: round(ours.wrong[name] / ours.used[name], 3) for name in ours.wrong
            },
            "coverage": round(float(np.mean(list(coverage.values()))), 4),
            "coverage_by_series": {name: round(one, 2) for name, one in coverage.items()},
            "interval_width_median": round(width, 3),
            "cpu_s_of_all_forecasts": round(spent_s, 2),
            "judged_days": JUDGED,
            **peaks,
            "verdicts_as_seen": _verdicts(series),
        },
        peers=peers,
        aims=(
            aim("WAPE of the next day, median", mine["wape_median"], "<=", 0.136),
            aim("WAPE of the next day, mean", mine["wape_mean"], "<=", 0.248),
            aim("mean below the best of Crane's", mine["wape_mean"], "<", best_crane),
            aim("median below the best of Crane's", mine["wape_median"], "<", crane_median),
            aim(
                "mean below the library's best",
                mine["wape_mean"] if library_mean is not None else None,
                "<",
                library_mean or 0.0,
                reason=why,
            ),
            aim(
                "median below the library's best",
                mine["wape_median"] if library_median is not None else None,
                "<",
                library_median or 0.0,
                reason=why,
            ),
            aim("interval's coverage", float(np.mean(list(coverage.values()))), ">=", 0.87),
            aim("interval's coverage", float(np.mean(list(coverage.values()))), "<=", 0.93),
            aim("peaks found", peaks["peaks found"], ">=", 0.95),
            aim("false switches a week", false, "<=", 1.0),
        ),
    )


def _days(values: npt.NDArray[np.float32]) -> Numbers:
    whole = len(values) // SLOTS
    return values[len(values) - whole * SLOTS :].astype(np.float64).reshape(whole, SLOTS)


def _ours(series: Mapping[str, Numbers]) -> tuple[Errors, dict[str, float], float]:
    errors, coverage, widths = Errors(), dict[str, float](), list[float]()
    for name, days in series.items():
        inside = []
        for number in range(len(days) - JUDGED, len(days)):
            said, was = Backtest(days[:number]).next_day(), days[number]
            errors.add(name, was, said.expected)
            if np.isfinite(said.upper).all():
                inside.append((said.lower <= was) & (was <= said.upper))
                widths.append(float((said.upper - said.lower).mean() / was.mean()))
        coverage[name] = float(np.mean(inside))
    return errors, coverage, float(np.median(widths))


def _peer(series: Mapping[str, Numbers], say: Callable[[Numbers], Numbers]) -> dict[str, float]:
    errors = Errors()
    for name, days in series.items():
        for number in range(len(days) - JUDGED, len(days)):
            errors.add(name, days[number], say(days[:number]))
    return errors.summary()


def _mean(found: object, name: str) -> float:
    assert isinstance(found, dict)
    return float(found[name])


def _peaks(series: Mapping[str, Numbers]) -> dict[str, float]:
    """Of the days that were taken for seasonal before they began."""
    peaks = found = false = days = 0
    for all_ in series.values():
        for number in range(max(LEAST_DAYS, len(all_) - JUDGED), len(all_)):
            past = Backtest(all_[:number])
            plan = day_plan(past.next_day(), lead=LEAD)
            skill = past.skill()
            if skill is None or skill < LEAST_SKILL or plan.seasons[0] == "flat":
                continue
            days += 1
            steady = over_an_hour(all_[number])
            levels = levels_of(steady)
            true = peaks_of(steady, levels) & (levels.trough <= LARGEST_TROUGH)
            state, busy = SeasonState(plan.seasons[0]), []
            for slot, used in enumerate(all_[number].tolist()):
                busy.append(state.season in ("peak", "surprise"))
                state = stepped(state, plan, slot, used, at=float(slot))
            for begin, end in runs(true.tolist()):
                peaks += 1
                found += 2 * sum(busy[begin:end]) >= end - begin
            false += sum(1 for begin, end in runs(busy) if not true[begin:end].any())
    return {
        "peaks": peaks,
        "peaks found": round(found / peaks, 4),
        "false switches a week": round(false / days * 7, 3),
        "days with seasons": days,
    }


def _verdicts(series: Mapping[str, Numbers]) -> str:
    right = sum(
        (verdict_of(days, lead=LEAD).seasonal is True)
        == (int(name.partition("input")[2]) in SEASONAL)
        for name, days in series.items()
    )
    return f"{right} of {len(series)}"


def _library(series: Mapping[str, Numbers]) -> tuple[dict[str, dict[str, float]], str]:
    """What statsforecast says of the same days; or why that is not known."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "venv", with_pip=True)
        python = home / "venv" / "bin" / "python"
        try:
            subprocess.run(
                [python, "-m", "pip", "install", "--quiet", LIBRARY],
                check=True,
                capture_output=True,
                timeout=INSTALLED_WITHIN_S,
            )
            pasts = {
                f"{name}__{number}": days[:number].ravel()
                for name, days in series.items()
                for number in range(len(days) - JUDGED, len(days))
            }
            np.savez(home / "series.npz", **pasts)  # type: ignore[arg-type]
            subprocess.run(
                [python, PROGRAM, home / "series.npz", home / "said.npz"],
                check=True,
                stdout=sys.stderr,
                timeout=FORETOLD_WITHIN_S,
            )
        except (subprocess.SubprocessError, OSError) as error:
            return {}, f"{LIBRARY} could not be installed or run: {str(error)[:200]}"
        said = np.load(home / "said.npz")
        errors: dict[str, Errors] = {}
        for key in said.files:
            model, _, rest = key.partition("__")
            if rest == "spent":
                continue
            name, _, number = rest.rpartition("__")
            one = errors.setdefault(f"{LIBRARY} {model}", Errors())
            one.add(name, series[name][int(number)], said[key])
        return {
            name: one.summary() | {"cpu_s": round(float(said[f"{name.split()[1]}__spent"]), 1)}
            for name, one in errors.items()
        }, ""
