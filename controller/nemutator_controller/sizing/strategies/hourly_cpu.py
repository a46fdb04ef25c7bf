"""Our own for CPU, hour by hour: follow the forecast whose own plan was cheapest of late, and change the request seldom.

How far use was from each forecast is kept as what it would have cost with each of several margins: what it would have
reserved in vain, and the price of what it would have missed. Older hours count less. So
the request for the coming hours is planned with the same price by which forecasts are judged. It moves
only where those hours are cheaper with the change, which is paid for, and more so the more there were of late. Each forecast has such a
plan of its own; what these plans would have cost, with their changes, says which one is followed.

All containers are stepped together by an hour, and what is kept of each does not grow.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nemutator_controller.sizing.strategies.forecasts import (
    COUNT,
    KEPT_HOURS,
    LastHour,
    forecasts,
)
from nemutator_controller.sizing.strategies.recorded_use import Numbers, RecordedUse
from nemutator_controller.sizing.strategies.request_plans import MARGINS, exact, next_requests

PRICE = 37.0
"""What a core that is missed costs, in cores that are reserved."""

HALF_LIFE_HOURS = 72.0
"""Of what margins cost."""

PLAN_HALF_LIFE_HOURS = 240.0
"""Of what the plans of forecasts cost."""

BEST_MARGIN_WEIGHT = 2.0
"""A forecast is followed by what its plan cost, and by what its best margin cost so many times."""

PLAN_CHANGE_HOURS = 1.7
"""A change costs as much as so many hours of average use, where forecasts are compared."""

CHANGE_HOURS = 0.75
CHANGE_GROWTH = 0.15
"""What the next change of a request costs: so much, times *e* to the power of the growth times the changes of late."""

CHANGES_HALF_LIFE_HOURS = 24.0

SLICE_ROWS = 500
"""So many containers are worked out at once, so that what is needed meanwhile stays small."""
USUAL_STEPS = 12
"""Of an hour: five minutes each."""

_LAST_HOUR = ("most", "end", "quarter")
_NEVER = ("peaks", "said", "plans", *_LAST_HOUR, "requested")
"""What is NaN of a container that was never seen; the rest is 0."""


class HourlyCpu:
    def __init__(self, rows: int, price: float = PRICE) -> None:
        self.price = price
        self.hour = 0
        """So many were stepped."""
        self._state: dict[str, npt.NDArray[np.floating]] = {
            name: _empty(name, rows) for name in _SHAPES
        }

    @property
    def rows(self) -> int:
        return len(self._state["requested"])

    @property
    def requested(self) -> Numbers:
        """Cores for the coming hour; NaN where nothing was seen yet."""
        return np.asarray(self._state["requested"], dtype=np.float64)

    def taken(self, rows: Sequence[int]) -> "HourlyCpu":
        """Of these *rows* alone, in their order."""
        at = np.array(rows, dtype=np.intp)
        return self._of({name: values[at] for name, values in self._state.items()})

    def joined(self, other: "HourlyCpu") -> "HourlyCpu":
        """With the rows of *other*, which is at the same hour, behind its own."""
        return self._of(
            {
                name: np.concatenate((values, other._state[name]))
                for name, values in self._state.items()
            }
        )

    def _of(self, state: dict[str, npt.NDArray[np.floating]]) -> "HourlyCpu":
        made = HourlyCpu(0, self.price)
        made.hour, made._state = self.hour, state
        return made

    def step(self, used: Numbers) -> Numbers:
        """Learns what the busiest pod of each container *used*, rows by steps of the hour that has ended, NaN where none was
        seen; returns `requested`."""
        for _ in self.in_slices(used):
            pass
        return self.requested

    def in_slices(self, used: Numbers) -> Iterator[None]:
        """The same, a slice at each step, so that others get their turn; to be gone through to its end."""
        if used.shape[0] != self.rows or used.shape[1] < 1:
            raise ValueError(f"{used.shape} is not the use of {self.rows} rows")
        for begin in range(0, self.rows, SLICE_ROWS):
            rows = slice(begin, begin + SLICE_ROWS)
            _Rows({name: values[rows] for name, values in self._state.items()}).step(
                used[rows], self.hour, self.price
            )
            yield
        self.hour += 1


_SHAPES: Mapping[str, tuple[tuple[int, ...], type[np.floating]]] = {
    "peaks": ((KEPT_HOURS,), np.float32),
    "losses": ((COUNT, len(MARGINS)), np.float32),
    "said_sums": ((COUNT,), np.float32),
    "said": ((COUNT,), np.float32),
    "plans": ((COUNT,), np.float32),
    "plan_costs": ((COUNT,), np.float32),
    "most": ((), np.float64),
    "end": ((), np.float64),
    "quarter": ((), np.float64),
    "total": ((), np.float64),
    "seen": ((), np.float64),
    "changes": ((), np.float64),
    "requested": ((), np.float64),
}


def _empty(name: str, rows: int) -> npt.NDArray[np.floating]:
    shape, kind = _SHAPES[name]
    return np.full((rows, *shape), np.nan if name in _NEVER else 0.0, dtype=kind)


class _Rows:
    """Some of the containers; what is written to its arrays is written to those of all."""

    def __init__(self, state: Mapping[str, npt.NDArray[np.floating]]) -> None:
        self._state = state

    @property
    def requested(self) -> float:
        """Of the first."""
        return float(self._state["requested"][0])

    def step(self, used: Numbers, hour: int, price: float) -> None:
        state = self._state
        peaks = np.fmax.reduce(used, axis=1)
        seen = ~np.isnan(peaks)
        state["peaks"][:, hour % KEPT_HOURS] = peaks
        end, quarter = _ends(used, peaks)
        for name, values in (("most", peaks), ("end", end), ("quarter", quarter)):
            state[name][seen] = values[seen]
        most, end, quarter = (np.asarray(state[name], dtype=np.float64) for name in _LAST_HOUR)
        known = state["peaks"].astype(np.float32, copy=False)
        self.follow(used, forecasts(known, hour + 1, LastHour(most, end, quarter)), price)

    def follow(self, used: Numbers, needs: Numbers, price: float) -> None:
        """Learns from what was *used* in the hour that has ended, and plans for what the next ones are forecast to need."""
        seen = np.flatnonzero(~np.isnan(used).all(axis=1))
        self._learn(seen, used[seen], price)
        self._state["said"][:] = needs[:, :, 0]
        self._state["changes"] *= 0.5 ** (1 / CHANGES_HALF_LIFE_HOURS)
        if len(seen):
            self._plan(seen, needs[seen], price)

    def _learn(self, rows: npt.NDArray[np.intp], used: Numbers, price: float) -> None:
        state = self._state
        mean = np.nansum(used, axis=1) / np.count_nonzero(~np.isnan(used), axis=1)
        state["total"][rows] += mean
        state["seen"][rows] += 1
        told = ~np.isnan(state["said"][rows, 0])
        rows, used = rows[told], used[told]
        said = state["said"][rows].astype(np.float64)
        wanted = said[:, :, np.newaxis] * MARGINS
        decay = 0.5 ** (1 / HALF_LIFE_HOURS)
        state["losses"][rows] = state["losses"][rows] * decay + _paid(wanted, used, price)
        state["said_sums"][rows] = state["said_sums"][rows] * decay + said
        decay = 0.5 ** (1 / PLAN_HALF_LIFE_HOURS)
        plans = state["plans"][rows].astype(np.float64)
        state["plan_costs"][rows] = state["plan_costs"][rows] * decay + _paid(plans, used, price)

    def _plan(self, rows: npt.NDArray[np.intp], needs: Numbers, price: float) -> None:
        state = self._state
        average = state["total"][rows] / state["seen"][rows]
        costs = self._by_margin(rows, price)
        change = PLAN_CHANGE_HOURS * average
        kept = state["plans"][rows].astype(np.float64)
        planned = next_requests(
            needs.reshape(-1, needs.shape[2]),
            costs.reshape(-1, len(MARGINS)),
            kept.reshape(-1),
            price=price,
            change_cost=np.repeat(change, COUNT),
        ).reshape(-1, COUNT)
        by_best_margin = BEST_MARGIN_WEIGHT * state["losses"][rows].min(axis=2)
        followed = (state["plan_costs"][rows] + by_best_margin).argmin(axis=1)
        moved = (planned.astype(np.float32) != state["plans"][rows]) & ~np.isnan(kept)
        state["plan_costs"][rows] += moved * change[:, np.newaxis]
        state["plans"][rows] = planned
        at = np.arange(len(rows)), followed
        self._request(rows, needs[at], costs[at], price)

    def _request(
        self, rows: npt.NDArray[np.intp], needs: Numbers, costs: Numbers, price: float
    ) -> None:
        state = self._state
        average = state["total"][rows] / state["seen"][rows]
        dear = np.exp(CHANGE_GROWTH * state["changes"][rows])
        was = state["requested"][rows].astype(np.float64)
        wanted = next_requests(
            needs, costs, was, price=price, change_cost=CHANGE_HOURS * dear * average
        )
        state["changes"][rows] += (wanted != was) & ~np.isnan(was)
        state["requested"][rows] = wanted

    def _by_margin(self, rows: npt.NDArray[np.intp], price: float) -> Numbers:
        """What each margin cost, by what was forecast; before anything was, as if the forecast were right."""
        sums = self._state["said_sums"][rows].astype(np.float64)[:, :, np.newaxis]
        losses = self._state["losses"][rows].astype(np.float64)
        return np.where(sums > 0, losses / np.where(sums > 0, sums, 1.0), exact(price))


def _paid(wanted: Numbers, used: Numbers, price: float) -> Numbers:
    """What requests of so much would have reserved in vain, and the price of what they would have missed; as averages
    of the hour."""
    above = wanted[..., np.newaxis] - used.reshape(
        len(used), *(1 for _ in wanted.shape[1:]), used.shape[1]
    )
    paid = np.maximum(above, -price * above)
    return np.asarray(np.nan_to_num(paid, copy=False).mean(axis=-1), dtype=np.float64)


def _ends(used: Numbers, peaks: Numbers) -> tuple[Numbers, Numbers]:
    """The most of the last step of an hour, and of its last quarter; where nothing was seen in it, of the hour."""
    quarter = -(-used.shape[1] // 4)
    end, late = (np.fmax.reduce(used[:, -steps:], axis=1) for steps in (1, quarter))
    return np.where(np.isnan(end), peaks, end), np.where(np.isnan(late), peaks, late)


def cpu(use: RecordedUse, price: float = PRICE) -> Numbers:
    """Cores to request in each hour, from the hours before; NaN before there was any. It is what stepping says, but all
    forecasts are made at once."""
    container = _Rows({name: _empty(name, 1) for name in _SHAPES})
    requested = np.full(use.hours, np.nan)
    busiest = use.busiest()
    for hour, needs in enumerate(_forecasts_of_all(busiest[:-1])):
        container.follow(busiest[hour, np.newaxis], needs[np.newaxis], price)
        requested[hour + 1] = container.requested
    return requested


def cpu_of_all(uses: Sequence[RecordedUse], price: float = PRICE) -> list[Numbers]:
    """The same of each of *uses*; those of one length are stepped together."""
    alike: dict[tuple[int, int], list[int]] = {}
    for number, use in enumerate(uses):
        alike.setdefault((use.hours, use.per_hour), []).append(number)
    found: dict[int, Numbers] = {}
    for (_, per_hour), numbers in alike.items():
        # What is needed meanwhile grows with the steps of an hour, too.
        rows = max(1, SLICE_ROWS * USUAL_STEPS // max(USUAL_STEPS, per_hour))
        for begin in range(0, len(numbers), rows):
            some = numbers[begin : begin + rows]
            if len(some) == 1:
                found[some[0]] = cpu(uses[some[0]], price)
            else:
                requested = _stepped([uses[number] for number in some], price)
                found.update(zip(some, requested, strict=True))
    return [found[number] for number in range(len(uses))]


def _stepped(uses: Sequence[RecordedUse], price: float) -> Numbers:
    """Rows of requests by the hour; all of *uses* have the same hours."""
    containers = HourlyCpu(len(uses), price)
    requested = np.full((len(uses), uses[0].hours), np.nan)
    busiest = np.stack([use.busiest() for use in uses])
    for hour in range(busiest.shape[1] - 1):
        requested[:, hour + 1] = containers.step(busiest[:, hour])
    return requested


def _forecasts_of_all(busiest: Numbers) -> Iterator[Numbers]:
    """Made after each hour of one container."""
    peaks = np.fmax.reduce(busiest, axis=1)
    rows = np.arange(len(peaks))
    seen = np.maximum.accumulate(np.where(np.isnan(peaks), 0, rows)) if len(rows) else rows
    ends = _ends(busiest, peaks)
    never = np.full(KEPT_HOURS - 1, np.nan)
    padded = np.concatenate((never, peaks)).astype(np.float32)
    for begin in range(0, len(rows), SLICE_ROWS):
        some = seen[begin : begin + SLICE_ROWS]
        known = np.lib.stride_tricks.sliding_window_view(padded, KEPT_HOURS)[
            begin : begin + SLICE_ROWS
        ]
        last = LastHour(peaks[some], ends[0][some], ends[1][some])
        yield from forecasts(known, KEPT_HOURS, last)
