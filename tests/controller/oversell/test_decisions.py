"""Up by small steps while use is known, down as far as requests permit, and never beyond what is asked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.oversell.decisions import (
    SILENT_S,
    STALE_S,
    STEP,
    STEP_S,
    NodeLoad,
    RatioRules,
    StandingRatio,
    WantedRatio,
    allowed_by_use,
    ratio_for,
)
from nemutator_controller.oversell.ratios import MOST, ONE, amplified, least_ratio


def load(**given: float | None) -> NodeLoad:
    """A node of four cores, of which pods request all and use a quarter."""
    usual = {
        "raw_millis": 4_000,
        "requested_millis": 4_000,
        "used_millis": 1_000,
        "waiting": 0.0,
        "silent_s": 10.0,
    }
    return NodeLoad(**{**usual, **given})  # type: ignore[arg-type]


def decided(ratio: int, *, rules: RatioRules | None = None, **given: float | None) -> WantedRatio:
    return ratio_for(
        load(**given),
        rules or RatioRules(asked=150),
        StandingRatio(ratio=ratio, stepped_s=STEP_S),
    )


def test_it_rises_by_a_tenth_and_waits() -> None:
    rules = RatioRules(asked=150)
    assert ratio_for(load(), rules, StandingRatio()) == WantedRatio(110, "stepping")
    young = StandingRatio(ratio=110, stepped_s=STEP_S - 1)
    assert ratio_for(load(), rules, young) == WantedRatio(110, "stepping")
    assert decided(110) == WantedRatio(120, "stepping")
    assert decided(140) == WantedRatio(150, "asked")
    assert decided(150) == WantedRatio(150, "asked")


def test_a_compressed_minute_shortens_the_steps() -> None:
    rules = RatioRules(asked=150, minute_s=2)
    soon = StandingRatio(ratio=110, stepped_s=STEP_S / 30)
    assert ratio_for(load(silent_s=5), rules, soon).ratio == 120


def test_the_season_lowers_the_ceiling() -> None:
    rules = RatioRules(asked=150, ceiling=120)
    assert decided(110, rules=rules) == WantedRatio(120, "season")
    assert decided(150, rules=rules, requested_millis=3_000) == WantedRatio(120, "season")
    assert decided(110, rules=RatioRules(asked=150, ceiling=100), requested_millis=1).ratio == 100


def test_use_bounds_it() -> None:
    # Of four cores 2.8 may be used; pods that use half of what they request leave room for 1.6 cores more.
    assert allowed_by_use(load(used_millis=2_000), RatioRules(asked=200)) == 140
    assert decided(130, used_millis=2_000) == WantedRatio(140, "use")
    assert allowed_by_use(load(used_millis=2_000), RatioRules(asked=200, reserve_millis=800)) == 100
    # A node on which little is requested needs no oversell.
    assert allowed_by_use(load(requested_millis=100, used_millis=300), RatioRules(asked=200)) == 100


def test_small_differences_of_use_change_nothing() -> None:
    assert decided(138, used_millis=2_000) == WantedRatio(138, "use")
    assert decided(144, used_millis=2_000) == WantedRatio(144, "use")
    assert decided(146, used_millis=2_000) == WantedRatio(140, "use")


def test_pressure_takes_it_down_step_by_step_and_keeps_it_from_rising() -> None:
    assert decided(130, waiting=0.3, requested_millis=3_000) == WantedRatio(120, "pressure")
    assert decided(130, waiting=0.15) == WantedRatio(130, "pressure")
    young = StandingRatio(ratio=130, stepped_s=1)
    again = ratio_for(load(waiting=0.9), RatioRules(asked=150), young)
    assert again == WantedRatio(130, "pressure")
    assert decided(130, waiting=None) == WantedRatio(140, "stepping")


def test_it_never_falls_below_what_runs_there_and_says_so() -> None:
    assert decided(150, requested_millis=5_500, used_millis=4_000) == WantedRatio(138, "requests")
    assert decided(150, waiting=0.9, requested_millis=6_000) == WantedRatio(150, "requests")
    lowered = RatioRules(asked=110)
    assert decided(150, rules=lowered, requested_millis=5_000) == WantedRatio(125, "requests")
    # Pods that were bound by hand do not raise it.
    assert decided(110, rules=lowered, requested_millis=9_000) == WantedRatio(110, "asked")


@pytest.mark.parametrize("waiting", [0.0, 0.9])
def test_without_reports_it_stays_and_then_goes_back_slowly(waiting: float) -> None:
    def after(ratio: int, silent_s: float | None) -> WantedRatio:
        return decided(ratio, silent_s=silent_s, waiting=waiting, requested_millis=2_000)

    assert after(130, STALE_S + 1) == WantedRatio(130, "stale")
    assert after(130, SILENT_S + 1) == WantedRatio(120, "silent")
    assert after(130, None) == WantedRatio(120, "silent")
    assert after(100, None) == WantedRatio(100, "silent")


def test_of_a_node_that_is_hardly_known_nothing_rises() -> None:
    assert decided(100, used_millis=None) == WantedRatio(100, "measuring")
    assert decided(130, used_millis=None) == WantedRatio(130, "measuring")


def test_what_was_taken_back_does_not_rise_again_and_may_fall() -> None:
    back = StandingRatio(ratio=120, stepped_s=None, is_taken_back=True)
    rules = RatioRules(asked=150)
    assert ratio_for(load(), rules, back) == WantedRatio(120, "taken_back")
    fallen = ratio_for(load(waiting=0.9, requested_millis=3_000), rules, back)
    assert fallen == WantedRatio(110, "pressure")


loads = st.builds(
    NodeLoad,
    raw_millis=st.integers(1, 512_000),
    requested_millis=st.integers(0, 2_000_000),
    used_millis=st.none() | st.integers(0, 10**7),
    waiting=st.none() | st.floats(0, 1),
    silent_s=st.none() | st.floats(0, 10**6),
)
rule_sets = st.builds(
    RatioRules,
    asked=st.integers(-50, 500),
    ceiling=st.none() | st.integers(-50, 10_000),
    cpu_percent=st.integers(10, 100),
    waiting_percent=st.integers(1, 100),
    reserve_millis=st.integers(0, 10**7),
)
standings = st.builds(
    StandingRatio,
    ratio=st.integers(ONE, MOST),
    stepped_s=st.none() | st.floats(0, 10_000),
    is_taken_back=st.booleans(),
)


@settings(max_examples=100)
@given(loads, rule_sets, standings)
def test_the_laws_hold_for_whatever_is_known_and_asked(
    known: NodeLoad, rules: RatioRules, standing: StandingRatio
) -> None:
    found, now = ratio_for(known, rules, standing).ratio, standing.ratio
    asked = max(ONE, min(MOST, rules.asked, MOST if rules.ceiling is None else rules.ceiling))
    assert ONE <= found <= MOST
    # Never above what is asked for, but for what stands and is needed.
    assert found <= max(asked, min(now, least_ratio(known.requested_millis, known.raw_millis)))
    assert found <= now + STEP
    # Never below what runs there, unless less stands already.
    assert amplified(known.raw_millis, found) >= min(
        known.requested_millis, amplified(known.raw_millis, now)
    )
    if found > now:
        assert known.used_millis is not None
        assert known.silent_s is not None
        assert known.silent_s <= STALE_S
        assert not standing.is_taken_back


@settings(max_examples=60)
@given(loads, rule_sets, standings)
def test_what_was_decided_stays_until_the_next_step_is_due(
    known: NodeLoad, rules: RatioRules, standing: StandingRatio
) -> None:
    found = ratio_for(known, rules, standing).ratio
    again = ratio_for(known, rules, StandingRatio(ratio=found, stepped_s=0))
    assert again.ratio == found
