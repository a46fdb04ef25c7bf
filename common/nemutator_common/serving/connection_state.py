"""The state of one connection between and within its requests, and its limits in each state.

The HTTP parser caps single lines but has no deadlines and no total; this module has both. It only
decides: `timed_connection.py` passes in what happens, and acts on the decisions.
"""

import enum

from nemutator_common.serving.limits import Limits


class DropReason(enum.StrEnum):
    """Why we ended a connection; the values are those of the metric's label."""

    ACCEPT_FAILED = "accept_failed"
    BAD_REQUEST = "bad_request"
    BROKEN_ANSWER = "broken_answer"
    DRAIN_DEADLINE = "drain_deadline"
    DRAINED = "drained"
    FLOOD = "flood"
    HANDSHAKE = "handshake"
    HEAD_DEADLINE = "head_deadline"
    HEAD_TOO_LARGE = "head_too_large"
    IDLE = "idle"
    REQUEST_DEADLINE = "request_deadline"
    TOO_MANY = "too_many"
    UNREAD = "unread"


class Phase(enum.Enum):
    HEAD = "the head of a request is awaited or on its way"
    REQUEST = "a request is being answered"
    ENDING = "the last answer is on its way out; what still comes in is not looked at"
    IDLE = "between two requests"


_END_OF_HEAD = b"\r\n\r\n"

EXPECTED_S = 1.0
"""For what a request still lacks to come in before the parser waits for it, with deadlines of its own."""


class ConnectionState:
    """The phase of a connection, when it is `due` to end, and for which reason."""

    __slots__ = (
        "_after_head",
        "_head_ended",
        "_limits",
        "_overdue",
        "_size",
        "_surplus",
        "_tail",
        "due",
        "phase",
    )

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._overdue = DropReason.UNREAD
        self._await_head(now)

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing has been received since the last answer, or since the connection was made."""
        return self.phase is Phase.IDLE or (
            self.phase is Phase.HEAD and not self._size and not self._head_ended
        )

    def has_had_just(self, body_bytes: int) -> bool:
        """Whether what has come in since the last answer is one request with a body of *body_bytes*, and no
        part of another one."""
        return self._head_ended and self._after_head == body_bytes

    def expects(self, now: float) -> None:
        """A request is on its way whose bytes are counted once they are looked at, which is soon."""
        self._await_head(now)
        self.due = now + min(self._limits.head_s, self._limits.request_s, EXPECTED_S)

    def received(self, data: bytes, now: float) -> DropReason | None:
        """Count bytes that came in; returns a reason if they are more than the caller may send."""
        if not data or self.phase is Phase.ENDING:
            return None
        if self.phase is Phase.IDLE:
            self._await_head(now)
        if self.phase is Phase.HEAD and not self._head_ended:
            return self._measure_head(data)
        return self._measure_surplus(len(data))

    def begun(self, now: float, *, ahead: bool = False) -> None:
        """A whole head was read, and its request is being answered.

        *ahead* means that more requests wait already: the counted bytes may be theirs, so they stay
        counted until the caller lets us catch up.
        """
        self.phase = Phase.REQUEST
        self.due = now + self._limits.request_s
        if not ahead:
            self._surplus = 0

    def ended(self, now: float, *, keep: bool) -> None:
        """A response was handed over; *keep* the connection for another request, or end it."""
        self.phase = Phase.IDLE if keep else Phase.ENDING
        self.due = now + (self._limits.idle_s if keep else self._limits.ending_s)

    def overdue(self, now: float) -> DropReason | None:
        """Why the connection must end now, if it must.

        A request gets a little time to answer its caller with the error: it is overdue a second
        time after `ending_s`.
        """
        if now < self.due:
            return None
        match self.phase:
            case Phase.HEAD:
                return DropReason.HEAD_DEADLINE
            case Phase.IDLE:
                return DropReason.IDLE
            case Phase.ENDING:
                return self._overdue
            case Phase.REQUEST:
                self._overdue = DropReason.REQUEST_DEADLINE
                self.ended(now, keep=False)
                return DropReason.REQUEST_DEADLINE

    def _await_head(self, now: float) -> None:
        self.phase = Phase.HEAD
        self.due = now + self._limits.head_s
        self._head_ended = False
        self._size = 0
        self._surplus = self._after_head = 0
        self._tail = b""

    def _measure_head(self, data: bytes) -> DropReason | None:
        if not self._size:
            # Parsers skip empty lines before a request (RFC 9112, 2.2).
            data = data.lstrip(b"\r\n")
        window = self._tail + data
        end = window.find(_END_OF_HEAD)
        size = len(data) if end < 0 else end + len(_END_OF_HEAD) - len(self._tail)
        self._size += size
        if self._size > self._limits.head_bytes:
            return DropReason.HEAD_TOO_LARGE
        if end < 0:
            self._tail = window[1 - len(_END_OF_HEAD) :]
            return None
        self._head_ended = True
        return self._measure_surplus(len(data) - size)

    def _measure_surplus(self, size: int) -> DropReason | None:
        """Count what follows a head: a body, or requests that were sent before we answered.

        A body that is too large gets a 413 from the handler that reads it. This limit is for
        callers who go on sending: twice a body leaves room for chunk headers and an early head.
        """
        self._surplus += size
        self._after_head += size
        most = 2 * self._limits.body_bytes + self._limits.head_bytes
        return DropReason.FLOOD if self._surplus > most else None
