from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from nemutator_common.serving.conversation import Conversation, Drop, Phase
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
    conversation = Conversation(LIMITS, 0)
    said = {conversation.received(piece, 1) for piece in in_pieces(head, sizes)} - {None}
    assert said == ({Drop.HEAD_TOO_LARGE} if len(head) > LIMITS.head_bytes else set())


@given(st.integers(0, 2 * MOST_SURPLUS), pieces)
def test_what_follows_a_head_is_counted_from_its_end(surplus: int, sizes: list[int]) -> None:
    conversation = Conversation(LIMITS, 0)
    data = HEAD + b"\r\n\r\n"[: surplus % 5] + b"b" * surplus
    said = {conversation.received(piece, 1) for piece in in_pieces(data, sizes)} - {None}
    assert said == ({Drop.FLOOD} if len(data) - len(HEAD) > MOST_SURPLUS else set())


def test_empty_lines_before_a_head_neither_end_it_nor_extend_its_time() -> None:
    conversation = Conversation(LIMITS, 0)
    for second in range(10):
        assert conversation.received(b"\r\n\r\n" * 20, second) is None
    assert conversation.received(b"x" * 65, 9) is Drop.HEAD_TOO_LARGE
    assert conversation.overdue(10) is Drop.HEAD_DEADLINE


def test_bytes_do_not_extend_the_time_for_a_head() -> None:
    conversation = Conversation(LIMITS, 0)
    for second in range(10):
        assert conversation.received(b"x", second) is None
    assert conversation.overdue(9.9) is None
    assert conversation.overdue(10) is Drop.HEAD_DEADLINE


def test_the_time_for_the_next_head_runs_from_its_first_byte() -> None:
    conversation = Conversation(LIMITS, 0)
    conversation.begun(1)
    conversation.ended(2, keep=True)
    assert conversation.overdue(76) is None
    conversation.received(b"G", 76)
    assert conversation.overdue(85) is None
    assert conversation.overdue(86) is Drop.HEAD_DEADLINE


def test_an_idle_connection_ends() -> None:
    conversation = Conversation(LIMITS, 0)
    conversation.begun(1)
    conversation.ended(2, keep=True)
    assert conversation.overdue(77) is Drop.IDLE


def test_a_late_request_gets_a_moment_to_say_so_and_no_more() -> None:
    conversation = Conversation(LIMITS, 0)
    conversation.begun(1)
    assert conversation.overdue(31) is Drop.REQUEST_DEADLINE
    assert conversation.overdue(31.5) is None
    assert conversation.overdue(32) is Drop.REQUEST_DEADLINE


def test_an_answer_that_nobody_reads_does_not_keep_a_connection() -> None:
    conversation = Conversation(LIMITS, 0)
    conversation.begun(1)
    conversation.ended(2, keep=False)
    assert conversation.received(b"x" * 1000, 2.5) is None
    assert conversation.overdue(3) is Drop.UNREAD


def test_what_was_sent_ahead_counts_until_nothing_waits() -> None:
    conversation = Conversation(LIMITS, 0)
    assert conversation.received(HEAD + b"b" * MOST_SURPLUS, 1) is None
    conversation.begun(1, ahead=True)
    assert conversation.received(b"b", 1) is Drop.FLOOD
    conversation.begun(2)
    assert conversation.received(b"b", 2) is None


class AnyConversation(RuleBasedStateMachine):
    """Whatever happens in whatever order, a connection has a time at which it must end."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.conversation = Conversation(LIMITS, self.now)
        self.alive = True

    @rule(seconds=st.floats(0, 100))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        reason = self.conversation.overdue(self.now)
        late = self.conversation.phase is Phase.ENDING and reason is Drop.REQUEST_DEADLINE
        if reason is not None and not late:
            self.alive = False

    @precondition(lambda self: self.alive)
    @rule(data=st.binary(max_size=300))
    def bytes_arrive(self, data: bytes) -> None:
        due = self.conversation.due
        was = self.conversation.phase
        self.conversation.received(data, self.now)
        if was is not Phase.IDLE:
            assert self.conversation.due == due, "a caller may not buy time with bytes"

    @precondition(lambda self: self.conversation.phase in {Phase.HEAD, Phase.IDLE})
    @rule()
    def a_request_begins(self) -> None:
        self.conversation.begun(self.now)

    @precondition(lambda self: self.conversation.phase is Phase.REQUEST)
    @rule(keep=st.booleans())
    def it_is_answered(self, keep: bool) -> None:
        self.conversation.ended(self.now, keep=keep)

    @invariant()
    def the_end_is_never_far(self) -> None:
        assert self.conversation.due <= self.now + LIMITS.idle_s


TestAnyConversation = AnyConversation.TestCase
