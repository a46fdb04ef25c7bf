"""How many times its CPU may be requested of a node now: pure.

It rises slowly, and only while its use is known; it falls as far as what runs there has requested, and no further: kubelet
would refuse pods that it runs when it starts anew.
"""

from dataclasses import dataclass

from nemutator_controller.oversell.ratios import MOST, ONE, least_ratio
from nemutator_controller.oversell.verdicts import Reason

STEP = 10
STEP_S = 600.0
NARROW = 5
"""What differs by less is left as it is, so that nothing goes up and down."""
STALE_S = 300.0
SILENT_S = 3_600.0
CALM = 0.5
"""The part of the bound of waiting from which on nothing rises."""
LEAST_USE = 4
"""Pods that use less than a quarter of what they request are taken to use that much: the next ones may be others."""
LEAST_REQUESTED = 10
"""Where less than a tenth of a node is requested, what its pods make of it says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLoad:
    raw_millis: int
    """What kubelet has for pods; more than 0."""
    requested_millis: int
    used_millis: int | None
    """What 95 of 100 minutes do not exceed; None: too little is known."""
    waiting: float | None
    """Share of the last minutes in which some task waited for CPU; None: the kernel does not say."""
    silent_s: float | None
    """Since its agent has reported; None: it never has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioRules:
    asked: int
    ceiling: int | None = None
    """Of the SeasonPolicies in force."""
    cpu_percent: int = 70
    waiting_percent: int = 20
    reserve_millis: int = 0
    minute_s: float = 60.0
    """Less is a compressed one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRatio:
    ratio: int = ONE
    stepped_s: float | None = None
    """Since it was changed last; None: it never was."""
    is_taken_back: bool = False


@dataclass(frozen=True, slots=True)
class WantedRatio:
    ratio: int
    reason: Reason


def ratio_for(load: NodeLoad, rules: RatioRules, standing: StandingRatio) -> WantedRatio:
    """Never more than is asked for, unless it stands already and what runs there needs it; never less than that needs, unless
    less stands already."""
    now = standing.ratio
    is_due = standing.stepped_s is None or standing.stepped_s >= STEP_S * rules.minute_s / 60
    most, why = _most(rules)
    wanted, why = _by_use(load, rules, now, most, why, is_due=is_due)
    if standing.is_taken_back and wanted > now:
        wanted, why = now, "taken_back"
    wanted = max(ONE, wanted)
    if wanted < now:
        if why == "use" and now - wanted < NARROW:
            return WantedRatio(now, why)
        floor = min(now, least_ratio(load.requested_millis, load.raw_millis))
        return WantedRatio(floor, "requests") if floor > wanted else WantedRatio(wanted, why)
    if wanted > now:
        if why == "use" and wanted - now < NARROW:
            return WantedRatio(now, why)
        if not is_due:
            return WantedRatio(now, "stepping")
        stepped = min(wanted, now + STEP)
        return WantedRatio(stepped, why if stepped == wanted else "stepping")
    return WantedRatio(now, why)


def allowed_by_use(load: NodeLoad, rules: RatioRules) -> int | None:
    """Hundredths up to which use stays within its bound, if what is requested beyond now is used as what is requested now; None:
    too little is known."""
    if load.used_millis is None:
        return None
    raw, requested = load.raw_millis, load.requested_millis
    room = raw * rules.cpu_percent // 100 - rules.reserve_millis
    left = max(0, room - load.used_millis)
    if LEAST_REQUESTED * requested < raw:
        further = left
    else:
        used = min(requested, max(load.used_millis, -(-requested // LEAST_USE)))
        further = left * requested // used
    return max(ONE, min(MOST, 100 * (requested + further) // raw))


def _most(rules: RatioRules) -> tuple[int, Reason]:
    asked = max(ONE, min(MOST, rules.asked))
    if rules.ceiling is not None and rules.ceiling < asked:
        return max(ONE, rules.ceiling), "season"
    return asked, "asked"


def _by_use(
    load: NodeLoad, rules: RatioRules, now: int, most: int, why: Reason, *, is_due: bool
) -> tuple[int, Reason]:
    back = now - STEP if is_due else now
    silent = load.silent_s
    minutes = rules.minute_s / 60
    if silent is None or silent > SILENT_S * minutes:
        return (back, "silent") if back <= most else (most, why)
    if silent > STALE_S * minutes:
        return (now, "stale") if now <= most else (most, why)
    allowed = allowed_by_use(load, rules)
    if allowed is None:
        return (now, "measuring") if now <= most else (most, why)
    if allowed < most:
        most, why = allowed, "use"
    bound = rules.waiting_percent / 100
    if load.waiting is not None and load.waiting >= bound and back <= most:
        return back, "pressure"
    if load.waiting is not None and load.waiting >= bound * CALM and now < most:
        return now, "pressure"
    return most, why
