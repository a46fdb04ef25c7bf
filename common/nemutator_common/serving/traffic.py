"""What one listener counts and logs about its connections and requests."""

import logging
from collections.abc import Callable
from typing import Literal, NamedTuple

from nemutator_common import names
from nemutator_common.meters import Meter
from nemutator_common.serving.connection_state import DropReason

log = logging.getLogger(__name__)

CLIENT_GONE = 499
"""nginx's status, which is not one of HTTP, for a caller who did not wait for the response."""

PlainMethod = Literal["GET", "POST"]

_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})


class ServedRequest(NamedTuple):
    """A request and how it was answered."""

    method: str
    path: str
    """The path without the query, because queries carry one-time keys."""
    status: int
    body_bytes: int
    """The size of the response's body."""
    seconds: float
    peer: str
    error: str | None = None
    routine: bool = False
    """Whether its answer was a `RoutineResponse`."""


class Traffic:
    """The metrics and the canonical log line of one *listener*, which may have many sockets."""

    def __init__(self, listener: str, meter: Meter) -> None:
        self._listener = listener
        self._meter = meter
        self._open = 0
        self._connections = meter.level(names.HTTP_CONNECTIONS, listener=listener)
        self.handshakes = meter.level(names.HTTP_HANDSHAKES, listener=listener)
        self._plain: dict[PlainMethod, Callable[[], object]] = {}
        self._seconds = meter.observer(names.HTTP_REQUEST_SECONDS, listener=listener)

    def opened(self, connections: int) -> None:
        """This many more connections are open now; fewer when negative."""
        self._open += connections
        self._connections(self._open)

    def dropped(self, reason: DropReason) -> None:
        self._meter.count(
            names.HTTP_CONNECTIONS_DROPPED, listener=self._listener, reason=reason.value
        )

    def answered_plainly(
        self, method: PlainMethod, path: str, body: bytes, seconds: float, peer: str
    ) -> None:
        """`answered`, of a plain request, which has a routine answer with status 200."""
        count = self._plain.get(method)
        if count is None:
            count = self._plain[method] = self._meter.counter(
                names.HTTP_REQUESTS, listener=self._listener, method=method, status="200"
            )
        count()
        self._seconds(seconds)
        if log.isEnabledFor(logging.DEBUG):
            request = ServedRequest(method, path, 200, len(body), seconds, peer, routine=True)
            self._log(request, logging.DEBUG)

    def answered(self, request: ServedRequest) -> None:
        self._meter.count(
            names.HTTP_REQUESTS,
            listener=self._listener,
            # If strangers could choose a label's value, they could make any number of series.
            method=request.method if request.method in _METHODS else "other",
            status=str(request.status),
        )
        self._seconds(request.seconds)
        level = logging.DEBUG if request.routine and request.error is None else logging.INFO
        if log.isEnabledFor(level):
            self._log(request, level)

    def _log(self, request: ServedRequest, level: int) -> None:
        line: dict[names.Key, object] = {
            names.LISTENER: self._listener,
            names.METHOD: request.method,
            names.PATH: request.path,
            names.STATUS: request.status,
            names.BYTES: request.body_bytes,
            names.DURATION_MS: round(request.seconds * 1000, 3),
            names.PEER: request.peer,
        }
        if request.error is not None:
            line[names.ERROR] = request.error
        log.log(level, "http_request", line)
