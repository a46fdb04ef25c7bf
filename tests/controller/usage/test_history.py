from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import Envelope, Pressure, Pressures
from nemutator_controller.usage.history import Point, point_of, thinning_step_s

from tests.fakes.reports import report


def test_a_point_has_the_machines_figures_and_none_where_none_is_known() -> None:
    assert point_of(Envelope(1, report(5.0))) == Point(5.0, None, 1, None)


def test_a_point_has_the_cpu_pressure_of_the_last_seconds() -> None:
    machine = report().machine
    pressed = replace(machine, cpu_cores=1.5, pressures=Pressures(cpu=Pressure(3.0, 2.0, 1, 1)))
    assert point_of(Envelope(1, replace(report(), machine=pressed))).cpu_pressure_10s == 3.0


@given(
    st.lists(st.floats(0, 1e6), min_size=2, unique=True),
    st.integers(2, 50),
)
def test_thinning_never_gives_more_than_asked(moments: list[float], most: int) -> None:
    since, last = min(moments), max(moments)
    step = thinning_step_s(points=len(moments), span_s=last - since, most=most)
    if step is None:
        assert len(moments) <= most
    else:
        assert len({int((at - since) / step) for at in moments}) <= most


def test_thinning_is_no_coarser_than_it_has_to_be() -> None:
    assert thinning_step_s(points=1000, span_s=900.0, most=10) == 100.0
    assert thinning_step_s(points=10, span_s=900.0, most=10) is None
