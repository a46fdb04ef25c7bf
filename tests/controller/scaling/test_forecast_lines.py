"""What is ahead is found around midnight, too."""

import math

from nemutator_controller.scaling.forecast_lines import highest_ahead, highest_upper, slots_ahead

DAY = [1.0, 2.0, 9.0, 3.0]


def test_the_most_from_now_to_the_end_of_the_lead() -> None:
    assert highest_ahead(DAY, slot=0, ahead=1) == 2.0
    assert highest_ahead(DAY, slot=3, ahead=2) == 3.0
    assert highest_ahead(DAY, slot=3, ahead=3) == 9.0
    assert highest_ahead(DAY, slot=3, ahead=1_000) == 9.0
    assert highest_ahead([math.nan], slot=0, ahead=3) is None


def test_where_the_interval_has_no_end_what_is_expected_counts() -> None:
    assert highest_upper(DAY, [math.inf, 4.0, math.inf, 5.0], slot=0, ahead=1) == 4.0
    assert highest_upper(DAY, [math.inf] * 4, slot=0, ahead=2) == 9.0


def test_a_lead_is_whole_slots_within_a_part_of_the_day() -> None:
    assert slots_ahead(120, slot_s=300, most=48) == 1
    assert slots_ahead(301, slot_s=300, most=48) == 2
    assert slots_ahead(1e6, slot_s=300, most=48) == 48
