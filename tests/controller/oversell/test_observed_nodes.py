"""What was seen of nodes: a value a minute for an hour, and what is no report is none."""

from nemutator_common import names
from nemutator_controller.oversell.observed_nodes import (
    FORGOTTEN_S,
    LEAST_MINUTES,
    NodeUses,
    ObservedNode,
)


def observed(**given: object) -> ObservedNode:
    usual: dict[str, object] = {
        "name": "n",
        "uid": "u",
        "version": "1",
        "capacity_millis": 4_000,
        "allocatable_millis": 4_000,
        "requested_millis": 3_900,
        "used_millis": 1_000,
        "waiting": 0.0,
        "labels": {names.OVERSELL: "enabled"},
    }
    return ObservedNode(**{**usual, **given})  # type: ignore[arg-type]


def test_of_few_minutes_nothing_is_usual_and_then_the_worst_of_a_hundred_minutes_are_left_out() -> (
    None
):
    uses, at = NodeUses(), 0.0
    found = None
    for minute in range(60):
        at = 60.0 * minute
        uses.see([observed(reported_at=at, used_millis=9_000 if minute < 3 else minute)], now=at)
        found = uses.load(observed(), now=at)
        assert found is not None
        assert (found.used_millis is None) == (minute + 1 < LEAST_MINUTES)
    assert found is not None
    assert found.used_millis == 59
    usual = uses.load(observed(usual_millis=2_500), now=at)
    assert usual is not None
    assert usual.used_millis == 2_500


def test_a_minute_has_its_largest_value_and_a_report_counts_once() -> None:
    uses, at = NodeUses(), 0.0
    for minute in range(LEAST_MINUTES):
        for second, used in ((0, 10), (15, 70), (15, 900), (30, 20)):
            at = 60.0 * minute + second
            uses.see([observed(reported_at=at, used_millis=used, waiting=0.5)], now=at)
    found = uses.load(observed(), now=at)
    assert found is not None
    assert (found.used_millis, found.waiting, found.silent_s) == (70, 0.5, 0.0)


def test_what_comes_from_the_future_or_nobody_is_not_counted() -> None:
    uses = NodeUses()
    uses.see([observed(reported_at=9_000.0), observed(uid="v")], now=1.0)
    found = uses.load(observed(), now=1.0)
    assert found is not None
    assert (found.used_millis, found.waiting, found.silent_s) == (None, None, None)


def test_who_is_silent_for_a_day_is_forgotten() -> None:
    uses = NodeUses()
    uses.see([observed(reported_at=1.0)], now=1.0)
    found = uses.load(observed(), now=FORGOTTEN_S)
    assert found is not None
    assert found.silent_s == FORGOTTEN_S - 1
    uses.see([], now=FORGOTTEN_S + 2)
    found = uses.load(observed(), now=FORGOTTEN_S + 2)
    assert found is not None
    assert found.silent_s is None


def test_raw_is_what_was_kept_if_that_can_be() -> None:
    def raw(text: str, **more: object) -> int | None:
        return observed(
            annotations={names.RAW_CPU: text}, allocatable_millis=6_000, **more
        ).raw_millis

    assert raw("3900m") == 3_900
    assert [raw(one) for one in ("", "5", "NaN")] == [6_000] * 3
    assert observed(allocatable_millis=None).raw_millis is None
    assert NodeUses().load(observed(allocatable_millis=None), now=0.0) is None


def test_what_stands_there_is_read_and_what_is_none_is_ours_too() -> None:
    assert observed(annotations={names.OVERSELL_RATIO: "1.3"}).ratio == 130
    garbled = observed(annotations={names.OVERSELL_RATIO: "NaN"})
    assert (garbled.ratio, garbled.is_ours) == (None, True)
    assert not observed(labels={names.OVERSELL: "yes"}).is_enabled
