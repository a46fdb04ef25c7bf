import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.identity.facts import LONGEST_STAT, started_ticks
from nemutator_agent.identity.failures import AttestationError

AFTER_NAME = b" S 1 " + b" ".join(b"%d" % number for number in range(5, 53))


def stat_of(name: bytes) -> bytes:
    return b"4711 (" + name + b")" + AFTER_NAME + b"\n"


@given(st.binary(max_size=64).filter(lambda name: b"\0" not in name))
def test_whatever_a_process_calls_itself_its_start_time_is_field_22(name: bytes) -> None:
    assert started_ticks(stat_of(name)) == 22


@pytest.mark.parametrize(
    "stat",
    [
        b"",
        b"4711 (sh",
        b"4711 (sh) S 1 2 3",
        b"4711 (sh)" + AFTER_NAME.replace(b" 22 ", b" x "),
        b"4711 (sh)" + AFTER_NAME.replace(b" 22 ", b" -22 "),
        stat_of(b"sh") + b" " * LONGEST_STAT,
    ],
)
def test_a_start_time_that_cannot_be_read_refuses(stat: bytes) -> None:
    with pytest.raises(AttestationError) as refused:
        started_ticks(stat)
    assert refused.value.step == "alive"


@given(st.binary(max_size=200))
def test_any_bytes_give_a_number_or_a_refusal(stat: bytes) -> None:
    with contextlib.suppress(AttestationError):
        assert started_ticks(stat) >= 0
