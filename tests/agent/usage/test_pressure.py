import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.pressure import parse_pressure, parse_stalled_us
from nemutator_common.wire import Pressure

SOME = b"some avg10=7.39 avg60=4.83 avg300=1.36 total=9694921\n"
FULL = b"full avg10=0.50 avg60=0.25 avg300=0.00 total=12\n"


def test_both_lines_are_read() -> None:
    assert parse_pressure(SOME + FULL) == Pressure(7.39, 4.83, 0.5, 0.25)


def test_before_linux_5_13_the_cpu_has_no_full() -> None:
    assert parse_pressure(SOME) == Pressure(7.39, 4.83, None, None)


def test_a_file_without_some_is_malformed() -> None:
    with pytest.raises(MalformedError):
        parse_pressure(FULL)


def test_the_count_of_all_that_was_waited() -> None:
    assert parse_stalled_us(SOME + FULL) == 9_694_921
    assert parse_stalled_us(FULL) is None
    assert parse_stalled_us(b"some avg10=7.39 avg60=4.83 avg300=1.36 total=x") is None


@given(st.binary(max_size=100), st.integers(0, len(SOME)))
def test_anything_else_is_malformed(noise: bytes, cut: int) -> None:
    with contextlib.suppress(MalformedError):
        pressure = parse_pressure(SOME[:cut] + noise)
        assert 0 <= pressure.some_10s <= 100
