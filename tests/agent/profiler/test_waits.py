import struct

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.bpf_maps import COUNT, LOST, ROW, Counters
from nemutator_agent.profiler.waits import WAIT_BYTES, unended

ROW_BYTES = ROW.pack(7, 0, 2, 4, 0, 0, 9, 0)
NOTHING = Counters(0, 0, 0, 0, 0, 0, 0, 0)


def wait(since: int, *, loss: int = 0, truncated: int = 0) -> bytes:
    return struct.pack("=QII", since, loss, truncated) + ROW_BYTES


def test_a_wait_has_the_size_of_the_structure() -> None:
    assert len(wait(0)) == WAIT_BYTES


def test_a_wait_lasts_until_now() -> None:
    rows, counters = unended([wait(40), wait(90, truncated=1)], now_ns=100)
    assert rows == ((ROW_BYTES, COUNT.pack(60)), (ROW_BYTES, COUNT.pack(10)))
    assert counters == NOTHING._replace(ticks=70, recorded=70, truncated=10)


def test_one_without_a_stack_is_lost_for_its_reason() -> None:
    for number, reason in enumerate(LOST, start=1):
        rows, counters = unended([wait(40, loss=number)], now_ns=100)
        assert rows == ()
        assert counters == NOTHING._replace(ticks=60, **{reason: 60})


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 4), st.booleans())))
def test_what_is_not_recorded_is_lost(waits: list[tuple[int, int, bool]]) -> None:
    content = [wait(since, loss=loss, truncated=cut) for since, loss, cut in waits]
    rows, counters = unended(content, now_ns=100)
    assert counters.ticks == counters.recorded + sum(getattr(counters, one) for one in LOST)
    assert counters.recorded == sum(COUNT.unpack(amount)[0] for _, amount in rows)
    assert counters.truncated <= counters.recorded
