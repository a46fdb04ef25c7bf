"""Where one connection stands between and within its requests, and what it may take there.

The HTTP parser has caps for single lines but no deadlines and no sum; this keeps both. It decides
only: `connection.py` feeds it what happens, and acts on what it says.
"""

import enum

from nemutator_common.serving.limits import Limits


class DropReason(enum.StrEnum):
    """Why we ended a connection, as the metric says it."""

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


class ConnectionState:
    """The phase of a connection, when it is `due` to end, and for which reason."""

    __slots__ = ("_head_ended", "_limits", "_overdue", "_size", "_surplus", "_tail", "due", "phase")

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._overdue = DropReason.UNREAD
        self._await_head(now)

    def received(self, data: bytes, now: float) -> DropReason | None:
        """Bytes came in; whether they are more than this connection may send."""
        if not data or self.phase is Phase.ENDING:
            return None
        if self.phase is Phase.IDLE:
            self._await_head(now)
        if self.phase is Phase.HEAD and not self._head_ended:
            return self._measure_head(data)
        return self._measure_surplus(len(data))

    def begun(self, now: float, *, ahead: bool = False) -> None:
        """A whole head was read, and its request is being answered.

        *ahead* when more requests wait already: what was counted may be theirs, so it stays
        counted until the caller lets us catch up.
        """
        self.phase = Phase.REQUEST
        self.due = now + self._limits.request_s
        if not ahead:
            self._surplus = 0

    def ended(self, now: float, *, keep: bool) -> None:
        """An answer was handed over; *keep* the connection for another request, or end it."""
        self.phase = Phase.IDLE if keep else Phase.ENDING
        self.due = now + (self._limits.idle_s if keep else self._limits.ending_s)

    def overdue(self, now: float) -> DropReason | None:
        """Why the connection must end now, if it must.

        A request gets a little time to say so to its caller: it is overdue a second time after
        `ending_s`.
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
        self._surplus = 0
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

        A body that is too large gets a 413 from whoever reads it. This is for callers who go on:
        twice a body leaves room for chunk headers, and for a head that came too early.
        """
        self._surplus += size
        most = 2 * self._limits.body_bytes + self._limits.head_bytes
        return DropReason.FLOOD if self._surplus > most else None
