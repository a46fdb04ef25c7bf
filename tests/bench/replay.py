"""What sizing costs and what goes wrong, by strategy, on recorded use.

`make bench NAME=replay`. CPU: sixteen production series (`tests/bench/crane`), each brought to a core on average and judged
after a week, with the number of each strategy at which 1 % of the use lies above its requests. VPA and KRR are our own writing
of their published arithmetic, fed with the same points. Memory: use that was made up, because no such series is free: levels
with a day's season, growth after deploys, and rare peaks; strategies are compared at 3 % of days with a kill, VPA by its
margin, KRR by its buffer. Then the sixteen series once more, as if they were of memory. The numbers of our own strategy were
chosen on the sixteen series, forwards and backwards, and on the first use that was made up; that of two other seeds was held
out.
"""

import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
from nemutator_controller.sizing.outcomes import (
    MISSED,
    OOM_DAYS,
    Outcome,
    replay,
    replay_at,
)
from nemutator_controller.sizing.strategies.known import (
    GIVEN,
    HOURLY_GIVEN,
    STRATEGIES,
    Resource,
)
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse

from tests.bench.frame import Aim, Result, aim
from tests.bench.made_up_memory import PER_DAY, STEP_S, known_at_days, made_up

SERIES = Path(__file__).parent / "crane" / "crane_5min.npz"
OURS = "nemutator"

SEED = 17
HELD_OUT = (18, 19)
"""Seeds of use that nothing was chosen on."""
SUMS = 12
AS_MEMORY = 2e9
"""Bytes that the sixteen use on average where they stand for memory."""


def bench() -> Result:
    cpu = recorded_cpu()
    made = made_up(SEED)
    memory = [one.use for one in made]
    began = time.process_time()
    own = {name: replay(name, "cpu", cpu) for name in STRATEGIES}
    took = time.process_time() - began
    by_cpu = _compared("cpu", cpu, MISSED)
    by_memory = _compared("memory", memory, OOM_DAYS)
    backwards = {
        name: _plain(replay_at(name, "cpu", [_backwards(use) for use in cpu], missed=MISSED))
        for name in (OURS, "krr")
    }
    sums = {
        name: _plain(replay_at(name, "cpu", _sums(cpu), missed=MISSED)) for name in (OURS, "krr")
    }
    held = {seed: made_up(seed) for seed in HELD_OUT}
    as_memory = [_with_average(use, AS_MEMORY) for use in cpu]
    others = {
        "sixteen series": as_memory,
        "sixteen series backwards": [_backwards(use) for use in as_memory],
        **{f"held out, seed {seed}": [one.use for one in held[seed]] for seed in HELD_OUT},
    }
    at_days = {name: _at_days(uses) for name, uses in others.items()}
    known = {f"seed {SEED}": _saved(by_memory | {OURS: known_at_days(made)})} | {
        f"seed {seed}": _saved(at_days[f"held out, seed {seed}"] | {OURS: known_at_days(uses)})
        for seed, uses in held.items()
    }
    ours, ours_memory = by_cpu[OURS], by_memory[OURS]
    changes = None if ours is None else ours.changes
    less = _saved(by_memory)
    return Result(
        measured={
            "cpu_at_1_percent": _plain(ours),
            "cpu": asdict(own[OURS]),
            "cpu_backwards_at_1_percent": backwards[OURS],
            "cpu_of_sums_at_1_percent": sums[OURS],
            "memory_at_3_percent": _plain(ours_memory),
            "memory": asdict(replay(OURS, "memory", memory)),
            "memory_saved_on_others": {name: _saved(found) for name, found in at_days.items()},
            "memory_saved_by_who_knows_all_but_the_luck": known,
            "cpu_s_of_all_strategies": round(took, 2),
            "series": len(cpu),
            "made_up": len(memory),
        },
        peers={
            name: {
                "cpu": asdict(own[name]),
                "cpu_at_1_percent": _plain(by_cpu[name]),
                "memory_at_3_percent": _plain(by_memory[name]),
            }
            for name in STRATEGIES
            if name != OURS
        }
        | {
            "krr, backwards": {"cpu_at_1_percent": backwards["krr"]},
            "krr, sums": {"cpu_at_1_percent": sums["krr"]},
        },
        aims=(
            _aim("cost of CPU at 1 % missed", _cost(ours), "<=", 1.7),
            _aim("changes a day at that", changes, "<=", 4.0),
            _aim("memory saved at 3 % of days", less, ">=", 0.09),
        ),
    )


def recorded_cpu() -> list[RecordedUse]:
    """Most of the series are rates of requests, of up to 22 000 a second: as cores they would lie beyond the largest amount that
    VPA and `nemutator advise` know, and the smallest, of 3m, below the least that VPA and KRR request."""
    read = (
        RecordedUse(name, STEP_S, np.asarray(values, dtype=np.float64)[np.newaxis])
        for name, values in np.load(SERIES).items()
        if not name.endswith("__t0")
    )
    return [_with_average(use, 1.0) for use in read]


def _aim(what: str, value: float | None, op: str, wanted: float) -> Aim:
    return aim(
        what, value, op, wanted, reason="" if value is not None else "a strategy misses more"
    )


def _compared(
    resource: Resource, uses: list[RecordedUse], missed: float
) -> dict[str, Outcome | None]:
    found = {
        name: replay_at(name, resource, uses, missed=missed)
        for name in STRATEGIES
        if name != HOURLY_GIVEN or resource == "cpu"
    }
    # Of memory the two are the same, and the dearest to replay.
    return {HOURLY_GIVEN: found[GIVEN]} | found


def _at_days(uses: list[RecordedUse]) -> dict[str, Outcome | None]:
    return {name: replay_at(name, "memory", uses, missed=OOM_DAYS) for name in (OURS, "vpa", "krr")}


def _saved(by_memory: dict[str, Outcome | None]) -> float | None:
    """By ours, of what the better of VPA and KRR requests, as far as they come to so few days with a kill."""
    ours = by_memory[OURS]
    others = [one.cost for name in ("vpa", "krr") if (one := by_memory[name]) is not None]
    return None if ours is None or not others else 1 - ours.cost / min(others)


def _with_average(use: RecordedUse, average: float) -> RecordedUse:
    return RecordedUse(use.name, use.step_s, use.pods * (average / float(np.nanmean(use.pods))))


def _backwards(use: RecordedUse) -> RecordedUse:
    """Series on which nothing was chosen: the same ones from their end to their beginning."""
    return RecordedUse(f"{use.name} backwards", use.step_s, use.pods[:, ::-1])


def _sums(uses: list[RecordedUse]) -> list[RecordedUse]:
    """Of two series each, one of them some hours late: nothing was chosen on these."""
    random = np.random.default_rng(HELD_OUT[0])
    found = []
    for number in range(SUMS):
        one, other = (uses[of].pods[0] for of in random.choice(len(uses), 2, replace=False))
        steps = min(len(one), len(other))
        late = np.roll(other[:steps], int(random.integers(1, 24)) * PER_DAY // 24)
        share = random.uniform(0.3, 0.7)
        pods = share * one[:steps] / one.mean() + (1 - share) * late / other.mean()
        found.append(RecordedUse(f"sum {number}", STEP_S, pods[np.newaxis]))
    return found


def _plain(outcome: Outcome | None) -> dict[str, object] | str:
    return "it misses more" if outcome is None else asdict(outcome)


def _cost(outcome: Outcome | None) -> float | None:
    return None if outcome is None else outcome.cost
