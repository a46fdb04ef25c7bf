"""What a test may do to the server, and what it may learn from it; nothing here is HTTP."""

import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.kube.kinds import Kind
from tests.fakes.kube.statuses import (
    ApiError,
    internal,
    too_many_requests,
    too_old,
    unauthorized,
)
from tests.fakes.kube.store import Store
from tests.fakes.kube.watching import Watch

_FAULTS: dict[int, Callable[[], ApiError]] = {
    401: unauthorized,
    429: lambda: too_many_requests("too many requests, please try again later"),
    500: lambda: internal("asked for by a test"),
    503: lambda: ApiError(503, "ServiceUnavailable", "the server is currently unable to serve"),
}


@dataclass(slots=True)
class Fault:
    """Answers the next *count* requests of *verb* ("" for any) instead of the server."""

    error: ApiError
    count: int
    verb: str = ""


@dataclass(slots=True)
class Controls:
    store: Store
    watches: list[Watch] = field(default_factory=list)
    """Running now."""
    requests: Counter[str] = field(default_factory=Counter)
    """By `verb resource`: `list pods`, `create pods/eviction`."""
    calls: deque[str] = field(default_factory=lambda: deque(maxlen=1_000))
    """The last requests as `METHOD path?query`."""
    latency_s: float = 0.0
    gone_as_status: bool = False
    """Answer a watch from a forgotten version with HTTP 410 instead of an ERROR event."""
    faults: deque[Fault] = field(default_factory=deque)
    restarting: Callable[[bool], Awaitable[None]] | None = None

    def cut_watches(self) -> int:
        """Break every watch connection now, without an end of the stream; how many there were."""
        for watch in self.watches:
            watch.cut = True
        self.store.wake()
        return len(self.watches)

    def stall_watches(self) -> None:
        """Half-open: the watches that run now say nothing any more, and stay connected."""
        for watch in self.watches:
            watch.stalled = True

    def compact(self) -> None:
        """Forget all history: old watches, exact lists and continue tokens get 410."""
        self.store.compact()

    def expire_watches(self) -> None:
        """ERROR 410 in the stream of every watch that runs now, which then ends."""
        for watch in self.watches:
            watch.injected.append(watch.error(too_old(watch.version, self.store.version)))
            watch.ending = True
        self.store.wake()

    def send_bookmarks(self) -> None:
        """Do not wait for the minute."""
        for watch in self.watches:
            if watch.bookmarks:
                watch.bookmark_now = True
        self.store.wake()

    def inject_line(self, line: bytes) -> None:
        """Put *line*, whatever it is, into every watch that runs now."""
        for watch in self.watches:
            watch.injected.append(line if line.endswith(b"\n") else line + b"\n")
        self.store.wake()

    def inject_event(self, type_: str, manifest: dict[str, Any]) -> None:
        """An event whose object the store never saw: undecodable, huge, from another version."""
        self.inject_line(json.dumps({"type": type_, "object": manifest}).encode())

    def fail_next(
        self, status: int, count: int = 1, *, retry_after_s: int | None = None, verb: str = ""
    ) -> None:
        """Answer the next *count* requests (of *verb*) with *status*: 401, 429, 500 or 503."""
        error = _FAULTS[status]()
        if retry_after_s is not None:
            error.status.setdefault("details", {})["retryAfterSeconds"] = retry_after_s
        self.faults.append(Fault(error, count, verb))

    async def restart(self, *, lose_data: bool = False) -> None:
        """Close every connection and come back on the same port."""
        assert self.restarting is not None, "only a running server restarts"
        await self.restarting(lose_data)

    def watches_of(self, kind: Kind) -> list[Watch]:
        return [watch for watch in self.watches if watch.kind == kind]

    def check_faults(self, verb: str) -> None:
        for fault in self.faults:
            if fault.verb in ("", verb):
                fault.count -= 1
                if not fault.count:
                    self.faults.remove(fault)
                raise fault.error
