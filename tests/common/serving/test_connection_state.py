import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from nemutator_common.serving.connection_state import ConnectionState, DropReason, Phase
from nemutator_common.serving.limits import Limits

LIMITS = Limits(
    head_bytes=64, body_bytes=100, head_s=10, request_s=30, idle_s=75, ending_s=1, drain_s=1
)
MOST_SURPLUS = 2 * LIMITS.body_bytes + LIMITS.head_bytes
HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"

pieces = st.lists(st.integers(1, 9), max_size=80)


def in_pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    """*data* cut as a network may cut it."""
    cut, at = [], 0
    for size in sizes:
        cut.append(data[at : at + size])
        at += size
    return [*cut, data[at:]]


@given(st.integers(0, 200), pieces)
def test_a_head_is_measured_exactly_however_it_is_cut(padding: int, sizes: list[int]) -> None:
    head = b"GET / HTTP/1.1\r\nA: " + b"a" * padding + b"\r\n\r\n"
    state = ConnectionState(LIMITS, 0)
    said = {state.received(piece, 1) for piece in in_pieces(head, sizes)} - {None}
    assert said == ({DropReason.HEAD_TOO_LARGE} if len(head) > LIMITS.head_bytes else set())


@given(st.integers(0, 2 * MOST_SURPLUS), pieces)
def test_what_follows_a_head_is_counted_from_its_end(surplus: int, sizes: list[int]) -> None:
    state = ConnectionState(LIMITS, 0)
    data = HEAD + b"\r\n\r\n"[: surplus % 5] + b"b" * surplus
    said = {state.received(piece, 1) for piece in in_pieces(data, sizes)} - {None}
    assert said == ({DropReason.FLOOD} if len(data) - len(HEAD) > MOST_SURPLUS else set())


def test_empty_lines_before_a_head_neither_end_it_nor_extend_its_time() -> None:
    state = ConnectionState(LIMITS, 0)
    for second in range(10):
        assert state.received(b"\r\n\r\n" * 20, second) is None
    assert state.received(b"x" * 65, 9) is DropReason.HEAD_TOO_LARGE
    assert state.overdue(10) is DropReason.HEAD_DEADLINE


def test_bytes_do_not_extend_the_time_for_a_head() -> None:
    state = ConnectionState(LIMITS, 0)
    for second in range(10):
        assert state.received(b"x", second) is None
    assert state.overdue(9.9) is None
    assert state.overdue(10) is DropReason.HEAD_DEADLINE


def test_the_time_for_the_next_head_runs_from_its_first_byte() -> None:
    state = ConnectionState(LIMITS, 0)
    state.begun(1)
    state.ended(2, keep=True)
    assert state.overdue(76) is None
    state.received(b"G", 76)
    assert state.overdue(85) is None
    assert state.overdue(86) is DropReason.HEAD_DEADLINE


def test_an_idle_connection_ends() -> None:
    state = ConnectionState(LIMITS, 0)
    state.begun(1)
    state.ended(2, keep=True)
    assert state.overdue(77) is DropReason.IDLE


def test_a_late_request_gets_a_moment_to_say_so_and_no_more() -> None:
    state = ConnectionState(LIMITS, 0)
    state.begun(1)
    assert state.overdue(31) is DropReason.REQUEST_DEADLINE
    assert state.overdue(31.5) is None
    assert state.overdue(32) is DropReason.REQUEST_DEADLINE


def test_an_answer_that_nobody_reads_does_not_keep_a_connection() -> None:
    state = ConnectionState(LIMITS, 0)
    state.begun(1)
    state.ended(2, keep=False)
    assert state.received(b"x" * 1000, 2.5) is None
    assert state.overdue(3) is DropReason.UNREAD


def test_what_was_sent_ahead_counts_until_nothing_waits() -> None:
    state = ConnectionState(LIMITS, 0)
    assert state.received(HEAD + b"b" * MOST_SURPLUS, 1) is None
    state.begun(1, ahead=True)
    assert state.received(b"b", 1) is DropReason.FLOOD
    state.begun(2)
    assert state.received(b"b", 2) is None


class AnyConversation(RuleBasedStateMachine):
    """Whatever happens in whatever order, a connection has a time at which it must end."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.state = ConnectionState(LIMITS, self.now)
        self.alive = True

    @rule(seconds=st.floats(0, 100))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        reason = self.state.overdue(self.now)
        late = self.state.phase is Phase.ENDING and reason is DropReason.REQUEST_DEADLINE
        if reason is not None and not late:
            self.alive = False

    @precondition(lambda self: self.alive)
    @rule(data=st.binary(max_size=300))
    def bytes_arrive(self, data: bytes) -> None:
        due = self.state.due
        was = self.state.phase
        self.state.received(data, self.now)
        if was is not Phase.IDLE:
            assert self.state.due == due, "a caller may not buy time with bytes"

    @precondition(lambda self: self.state.phase in {Phase.HEAD, Phase.IDLE})
    @rule()
    def a_request_begins(self) -> None:
        self.state.begun(self.now)

    @precondition(lambda self: self.state.phase is Phase.REQUEST)
    @rule(keep=st.booleans())
    def it_is_answered(self, keep: bool) -> None:
        self.state.ended(self.now, keep=keep)

    @invariant()
    def the_end_is_never_far(self) -> None:
        assert self.state.due <= self.now + LIMITS.idle_s


@pytest.mark.parametrize(
    ("pieces", "body_bytes", "is_just_that"),
    [
        ([b"GET / HTTP/1.1\r\n\r\n"], 0, True),
        ([b"GET / HTTP/1.1\r\n", b"\r\n"], 0, True),
        ([b"POST / HTTP/1.1\r\n\r\nab", b"c"], 3, True),
        ([b"POST / HTTP/1.1\r\n\r\nab"], 3, False),
        ([b"GET / HTTP/1.1\r\n\r\nG"], 0, False),
        ([b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"], 0, False),
    ],
)
def test_it_knows_when_no_part_of_another_request_has_come(
    pieces: list[bytes], body_bytes: int, is_just_that: bool
) -> None:
    state = ConnectionState(LIMITS, 0.0)
    for piece in pieces:
        state.received(piece, 0.0)
    state.begun(0.0)
    state.ended(0.0, keep=True)
    assert state.has_had_just(body_bytes) is is_just_that
    state.received(b"GET / HTTP/1.1\r\n\r\n", 0.0)
    assert state.has_had_just(0), "what came before the last answer does not count"


TestAnyConversation = AnyConversation.TestCase
