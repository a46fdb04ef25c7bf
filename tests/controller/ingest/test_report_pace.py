import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import LONGEST_PACE_S
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.ingest.report_pace import (
    COUNT_AGAIN_S,
    COUNTED_S,
    LEAST_S,
    MISSED,
    ReportPace,
    every_s,
)

from tests.fakes.batches import NOW, batch
from tests.fakes.meters import MemoryMeter


@pytest.mark.parametrize(
    ("nodes", "asked"),
    [(0, 0.0), (1, 0.0), (49, 0.0), (50, 1.0), (62, 1.2), (1_000, 20.0), (5_000, 60.0)],
)
def test_each_node_gets_its_part_of_what_the_brain_can_take(nodes: int, asked: float) -> None:
    assert every_s(nodes, reports_per_s=50) == asked


@given(st.integers(0, 10_000), st.floats(1, 1_000))
def test_together_they_send_no_more_unless_that_would_blind_us(nodes: int, per_s: float) -> None:
    asked = every_s(nodes, reports_per_s=per_s)
    assert asked == 0 or LEAST_S <= asked <= LONGEST_PACE_S
    if LEAST_S < asked < LONGEST_PACE_S:
        # Rounded to a tenth of a second.
        assert abs(nodes / asked - per_s) <= 0.06 * per_s
    if asked == 0:
        assert nodes < per_s


def test_nodes_that_are_gone_do_not_count() -> None:
    view = Nodes(most=500)
    pace = ReportPace(view, reports_per_s=1, meter=MemoryMeter())
    (envelope,) = batch((1,)).envelopes
    for number in range(10):
        view.see(f"n{number}", "e1", envelope, now=NOW)
    for number in range(10, 14):
        view.see(f"n{number}", "e1", envelope, now=NOW + 250)
    assert pace.every_s(now=NOW + 250) == 14
    assert pace.missed_after_s(now=NOW + 250) == 14 * MISSED
    # It is not counted again with each report.
    view.see("n99", "e1", envelope, now=NOW + 251)
    assert pace.every_s(now=NOW + 250) == 14
    assert pace.every_s(now=NOW + 250.5) == 14
    assert pace.every_s(now=NOW + 251) == 14
    assert pace.every_s(now=NOW + 250 + COUNT_AGAIN_S) == 15
    assert pace.every_s(now=NOW + COUNTED_S + 1) == 5


def test_a_clock_that_was_set_back_does_not_hold_the_pace() -> None:
    view = Nodes(most=500)
    pace = ReportPace(view, reports_per_s=1, meter=MemoryMeter())
    assert pace.every_s(now=NOW) == 0
    (envelope,) = batch((1,)).envelopes
    view.see("n1", "e1", envelope, now=NOW - 3_600)
    assert pace.every_s(now=NOW - 3_600) == 1
