"""Who on one node suffers when whom of the others is busy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nemutator_controller.neighbours.co_movement import (
    LEAST_MINUTES,
    CoMovement,
    co_movement,
    correlations,
    follows,
)
from nemutator_controller.neighbours.node_window import FIGURES, Values
from nemutator_controller.neighbours.resources import SCALES, SHARE_OF_NODE, Contended, level
from nemutator_controller.neighbours.untold import untold_aggressors, untold_victims

NOW_MINUTES = 5

CHANCE = 1e-3
"""That a node of which nothing is wrong is given a link in one look, all its tests together."""

AFTER_PROOF = 0.01
"""The same for one victim of an aggressor that all victims of the node together have proven."""

MOST_OF_A_VICTIM = 3

SELDOM = 0.9
"""Whoever suffers in one of ten minutes is a victim, and whoever takes much in one of ten an aggressor, so that it may be at times.
"""

LEAST_TRAFFIC = 0.001
"""MB per second, below which CPU for each byte says nothing."""

STARVED = 0.1
"""Who waits for a CPU for a larger part of its time than this is a victim of that: what its work costs says
nothing then."""

SLOWED = 2.0
"""Whoever is slowed down by caches takes up to so many times its CPU itself: who moves by less may be one of the
victims."""

FILLED = 1.3
"""By so much more a node moves while an aggressor of its network is busy."""

LEAST_FULL = 20.0
"""MB per second: less fills no network of machines of today."""

LIKELY = 0.3
"""The plain correlation below which a pair is not looked at closely: what passes the test has 0.5 and
more."""


@dataclass(frozen=True, slots=True)
class NodeLink:
    """Rows of one node's window."""

    victim: int
    aggressor: int
    resource: Contended
    movement: CoMovement
    victim_now: float
    """What the victim suffers in the last five minutes beyond what it does while the other is quiet, between grades
    from 0 to 4."""
    aggressor_now: float
    """The same, as far as the aggressor is as busy as it is when it is busy."""


@dataclass(frozen=True, slots=True)
class NodeFindings:
    links: tuple[NodeLink, ...]
    victims: Sequence[str]
    """Of each row why nobody can tell whether it suffers; empty: that is known."""
    aggressors: Sequence[str]
    """Of each row why nobody can tell whether others suffer from it."""
    tests: int


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Of one resource, who may suffer from whom."""

    resource: Contended
    suffering: Values
    taken: Values
    victims: Sequence[int]
    suspects: Sequence[int]


def assess(values: Values) -> NodeFindings:
    """*values* by figure, row and minute, as a `NodeWindow` shows them."""
    _, rows, minutes = values.shape
    if not rows:
        return NodeFindings((), (), (), 0)
    asked: list[_Asked] = []
    for resource in Contended:
        suffering, taken = _sides(resource, values)
        victims = _victims(resource, suffering)
        suspects = _suspects(resource, taken) if victims else []
        if suspects:
            asked.append(_Asked(resource, suffering, taken, victims, suspects))
    together = sum(len(one.suspects) for one in asked)
    tests = sum(len(one.suspects) * len(one.victims) for one in asked)
    links: list[NodeLink] = []
    for one in asked:
        # Half of the chance for all victims as one, half for each of them.
        proven = _proven(one, 0.5 * CHANCE / together)
        likely = correlations(one.suffering[one.victims], one.taken[one.suspects]) >= LIKELY
        for victim, chosen in zip(one.victims, likely, strict=True):
            some = [each for each, is_likely in zip(one.suspects, chosen, strict=True) if is_likely]
            chances = {
                suspect: AFTER_PROOF if suspect in proven else 0.5 * CHANCE / tests
                for suspect in some
                if suspect != victim
            }
            own = None if one.resource is Contended.NETWORK else one.taken[victim]
            if one.resource is Contended.CACHE:
                own = values[FIGURES.index("network"), victim]
            links += _links_of(one, victim, chances, own)
    waits, uses = _known_minutes(_waits(values)), _known_minutes(values[FIGURES.index("cpu")])
    return NodeFindings(
        tuple(links),
        untold_victims(waits, uses, minutes),
        untold_aggressors(waits, uses),
        tests,
    )


def _known_minutes(values: Values) -> list[int]:
    """Of each row."""
    found: list[int] = np.count_nonzero(~np.isnan(values), axis=1).tolist()
    return found


def _waits(values: Values) -> Values:
    waits = values[[FIGURES.index(n) for n in ("cpu_waiting", "memory_waiting", "disk_waiting")]]
    found: Values = np.fmax(np.fmax(waits[0], waits[1]), waits[2])
    return found


def _sides(resource: Contended, values: Values) -> tuple[Values, Values]:
    """What each row suffers of *resource*, and what it takes of it."""
    cpu, memory, disk, network, cpu_wait, memory_wait, disk_wait, turn_wait = values
    match resource:
        case Contended.CPU:
            return cpu_wait, cpu
        case Contended.TURNS:
            return turn_wait, cpu
        case Contended.MEMORY:
            return memory_wait, memory
        case Contended.DISK:
            return disk_wait, disk
        case Contended.CACHE:
            return np.where(cpu_wait < STARVED, _cost(cpu, network), np.nan), cpu
        case Contended.NETWORK:
            return _shortfall(network), network


def _cost(cpu: Values, network: Values) -> Values:
    """By how much a byte that is moved costs more CPU than a cheap one of the same row: its lower quartile."""
    moves = network >= LEAST_TRAFFIC
    if not moves.any():
        return np.full_like(network, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(moves, cpu / network, np.nan)
    cheap = row_quantiles(each, 0.25)
    with np.errstate(divide="ignore", invalid="ignore"):
        more: Values = np.maximum(each / cheap[:, None] - 1.0, 0.0)
    more[~np.isfinite(more)] = np.nan
    return more


def _shortfall(network: Values) -> Values:
    """What is missing of a row's usual traffic."""
    if not (network >= LEAST_TRAFFIC).any():
        return np.full_like(network, np.nan)
    usual = row_quantiles(network, 0.75)
    with np.errstate(divide="ignore", invalid="ignore"):
        missing: Values = np.clip(1.0 - network / usual[:, None], 0.0, 1.0)
    missing[~(usual >= LEAST_TRAFFIC)] = np.nan
    return missing


def _victims(resource: Contended, suffering: Values) -> list[int]:
    return rows_reaching(suffering, SELDOM, SCALES[resource].suffering[0])


def _suspects(resource: Contended, taken: Values) -> list[int]:
    together = np.nansum(taken, axis=0)
    least = max(SCALES[resource].least, SHARE_OF_NODE * busiest(together))
    found = rows_reaching(taken, SELDOM, least)
    if resource is Contended.CACHE:
        most, little = row_quantiles(taken[found], 0.9), row_quantiles(taken[found], 0.1)
        return [one for one, rises in zip(found, most >= SLOWED * little, strict=True) if rises]
    if resource is Contended.NETWORK:
        return [one for one in found if _fills(taken[one], together)]
    return found


def busiest(together: Values) -> float:
    """The 90th percentile, as `np.quantile` has it, which takes ten times as long for an hour."""
    ordered = np.sort(together).astype(np.float64)
    place = 0.9 * (len(ordered) - 1)
    below = int(place)
    first, second = ordered[[below, min(below + 1, len(ordered) - 1)]].tolist()
    return float(first + (second - first) * (place - below))


def _fills(taken: Values, together: Values) -> bool:
    """Whether the node moves more while this one is busy. If others get less by as much, load has moved from them to
    it, and nobody was in anybody's way."""
    busy = taken > np.nanmedian(taken)
    if not busy.any() or busy.all():
        return False
    full = float(np.median(together[busy]))
    return full >= LEAST_FULL and full >= FILLED * float(np.median(together[~busy]))


def _proven(asked: _Asked, chance: float) -> frozenset[int]:
    """Whom all victims together follow: their mean has less noise than each of them, and is one test for each."""
    found: set[int] = set()
    known: list[Values] = []
    left = list(asked.suspects)
    while left and len(found) < most_of_a_victim(asked.resource):
        moved = [
            (suspect, movement)
            for suspect in left
            if (others := [one for one in asked.victims if one != suspect])
            and (
                movement := co_movement(
                    _mean_of(asked.suffering[others]), asked.taken[suspect], known, chance=chance
                )
            )
            is not None
            and movement.effect > 0
        ]
        if not moved:
            break
        best, _ = min(moved, key=lambda pair: (pair[1].p, -pair[1].effect))
        found.add(best)
        known.append(asked.taken[best])
        left = [suspect for suspect, _ in moved if suspect != best]
    return frozenset(found)


def most_of_a_victim(resource: Contended) -> int:
    """Aggressors of one victim that are told apart: each further one has to explain what those before left. Whoever
    is slowed down takes more CPU for it itself, and is not to be blamed for what others suffer then."""
    return 1 if resource is Contended.CACHE else MOST_OF_A_VICTIM


def _links_of(
    asked: _Asked, victim: int, chances: Mapping[int, float], own: Values | None
) -> list[NodeLink]:
    """*chances*: of each suspect how likely chance may be."""
    if not chances:
        return []
    found: list[NodeLink] = []
    suffering, resource = asked.suffering[victim], asked.resource
    known = [] if own is None or not follows(suffering, own) else [own]
    left = list(chances)
    while left and len(found) < most_of_a_victim(resource):
        moved = [
            (one, movement)
            for one in left
            if (movement := co_movement(suffering, asked.taken[one], known, chance=chances[one]))
            is not None
            and movement.effect >= 0.5 * SCALES[resource].suffering[0]
        ]
        if not moved:
            break
        best, movement = min(moved, key=lambda pair: (pair[1].p, -pair[1].effect))
        found.append(_link(resource, victim, best, movement, suffering, asked.taken[best]))
        # Who is behind it already explains what others only seem to do.
        known = [*known, asked.taken[best]]
        left = [one for one, _ in moved if one != best]
    return found


def _link(
    resource: Contended,
    victim: int,
    aggressor: int,
    movement: CoMovement,
    suffering: Values,
    taken: Values,
) -> NodeLink:
    suffers = _mean(suffering[-NOW_MINUTES:])
    busy = _mean(taken[taken > np.nanmedian(taken)]) or 1.0
    share = min(_mean(taken[-NOW_MINUTES - movement.lag :]) / busy, 1.0)
    now = level(resource, suffers) if suffers - movement.quiet > 0 else 0.0
    return NodeLink(victim, aggressor, resource, movement, now, now * share)


def _mean(values: Values) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else 0.0


def _mean_of(several: Values) -> Values:
    """Of each minute, of those that are known."""
    known = ~np.isnan(several)
    count = known.sum(axis=0)
    with np.errstate(invalid="ignore"):
        found: Values = np.where(known, several, 0.0).sum(axis=0) / np.where(count, count, np.nan)
    return found


def rows_reaching(values: Values, part: float, bound: float) -> list[int]:
    """The rows whose `row_quantiles` is at least *bound*, of those of which enough is known. They are counted and not put in order:
    nearly all rows of nearly all nodes stay below."""
    known = np.count_nonzero(~np.isnan(values), axis=1)
    return rows_with(known, np.count_nonzero(values >= bound, axis=1), part)


def rows_with(
    known: npt.NDArray[np.intp], reaching: npt.NDArray[np.intp], part: float
) -> list[int]:
    """The same where so many of so many *known* values are *reaching* the bound."""
    found = (known >= LEAST_MINUTES) & (reaching >= known - _place(known, part))
    return np.flatnonzero(found).tolist()


def row_quantiles(values: Values, part: float) -> Values:
    """Of each row; NaN where nothing is known."""
    ordered = np.sort(values, axis=1)
    known = np.count_nonzero(~np.isnan(values), axis=1)
    at = _place(known, part)
    found: Values = ordered[np.arange(len(values)), at] if values.shape[1] else ordered[:, 0]
    return found


def _place(known: npt.NDArray[np.intp], part: float) -> npt.NDArray[np.intp]:
    """Where *part* of so many known values ends, when they are in order."""
    place: npt.NDArray[np.intp] = np.maximum(np.ceil(part * known).astype(np.intp) - 1, 0)
    return place
