"""HTTP for hvac with what requests lacks: one deadline for all of a call, a largest answer, and distrust of
connections.

A timeout of requests is one for each piece that arrives: an answer that comes in drips would keep its
thread for ever.

What stands between may drop a connection and tell nobody: then whoever uses it next gets no answer, and so
does whoever uses the next one. So after a failure no connection is used that was idle before it.
"""

import functools
import http.client
import io
import socket
import time
from math import inf
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from nemutator_agent.credentials.vault.authorities import Authorities
from nemutator_agent.credentials.vault.failures import LargeAnswerError
from nemutator_agent.credentials.vault.hvac_failures import outage_of

CONNECT_S = 3.0

LONGEST_IDLE_S = 50.0
"""Balancers drop what was idle for a minute, and longer."""

LARGEST_ANSWER = 2 << 20
"""Vault keeps 1 MiB at one path, and more in some storages. It would take the memory that all pods share."""

_PIECE = 64 << 10


def timeout(answer_s: float) -> urllib3.Timeout:
    """For all of a call, from its connection to the last byte of the answer."""
    return urllib3.Timeout(total=answer_s, connect=min(CONNECT_S, answer_s))


class VaultTransport(HTTPAdapter):
    """Raises what `outage_of` finds in an answer, except for who asks for a stream, and so for every
    answer as it is."""

    def __init__(
        self, authorities: Authorities, *, connections: int, idle_s: float = LONGEST_IDLE_S
    ) -> None:
        self._authorities = authorities
        self._trust = _Trust(idle_s)
        super().__init__(pool_connections=1, pool_maxsize=connections, max_retries=0)

    def init_poolmanager(self, *positional: Any, **named: Any) -> None:
        super().init_poolmanager(*positional, **named)
        pools: dict[str, Any] = {
            "http": functools.partial(_Pool, trust=self._trust),
            "https": functools.partial(_TlsPool, trust=self._trust),
        }
        self.poolmanager.pool_classes_by_scheme = pools

    def build_connection_pool_key_attributes(
        self, request: Any, verify: Any, cert: Any = None
    ) -> Any:
        where, _ = super().build_connection_pool_key_attributes(request, verify, cert)
        context = {"ssl_context": self._authorities.context}
        return where, context if where["scheme"] == "https" else {}

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """The original would add the public certificate authorities to the context."""

    def send(self, request: Any, *positional: Any, **named: Any) -> Any:
        # What is packed could unpack to any size.
        request.headers["Accept-Encoding"] = "identity"
        try:
            response = super().send(request, *positional, **{**named, "stream": True})
            body = _body(response)
        except requests.exceptions.RequestException as error:
            if isinstance(error, requests.exceptions.SSLError):
                self._authorities.read_again()
            self._trust.lose()
            raise
        if not named.get("stream"):
            outage = outage_of(response.status_code, response.headers, body)
            if outage is not None:
                raise outage
        response.raw = io.BytesIO(body)
        return response


def _body(response: requests.Response) -> bytes:
    pieces: list[bytes] = []
    size = 0
    try:
        while piece := response.raw.read(_PIECE, decode_content=False):
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST_ANSWER:
                why = f"the answer is larger than {LARGEST_ANSWER >> 20} MiB"
                raise LargeAnswerError("malformed", why)
    except urllib3.exceptions.ReadTimeoutError:
        raise requests.exceptions.ReadTimeout from None
    except urllib3.exceptions.HTTPError as error:
        raise requests.exceptions.ConnectionError(type(error).__name__) from None
    except LargeAnswerError:
        # What is left of the answer must not be taken for the next one.
        response.close()
        raise
    return b"".join(pieces)


class _UntilDeadline(io.RawIOBase):
    """The bytes of *sock* as they come, until *deadline* by the monotonic clock."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *positional: Any, **named: Any) -> None:
        super().__init__(sock, *positional, **named)
        # The time that urllib3 has left for the answer is the timeout of its socket by now.
        self.fp.close()
        deadline = time.monotonic() + (sock.gettimeout() or 0.0)
        self.fp = io.BufferedReader(_UntilDeadline(sock, deadline))


class _Connection(HTTPConnection):
    response_class = _Answer
    idle_since: float | None = None


class _TlsConnection(HTTPSConnection):
    response_class = _Answer
    idle_since: float | None = None


class _Trust:
    """Which connections that are open may be used again. Times are by the monotonic clock."""

    def __init__(self, idle_s: float) -> None:
        self._idle_s = idle_s
        self._lost = -inf

    def lose(self) -> None:
        """A call has failed on its way: the others that are idle now may fail as well."""
        self._lost = time.monotonic()

    def holds(self, idle_since: float) -> bool:
        return idle_since > self._lost and time.monotonic() - idle_since < self._idle_s


class _Trusting(HTTPConnectionPool):
    """A pool that opens a connection anew where it is not trusted."""

    def __init__(self, *positional: Any, trust: _Trust, **named: Any) -> None:
        super().__init__(*positional, **named)
        self._trust = trust

    def _get_conn(self, timeout: float | None = None) -> Any:
        connection: Any = super()._get_conn(timeout)
        if connection.idle_since is not None and not self._trust.holds(connection.idle_since):
            connection.close()
        return connection

    def _put_conn(self, conn: Any) -> None:
        if conn is not None:
            conn.idle_since = time.monotonic()
        super()._put_conn(conn)


class _Pool(_Trusting):
    ConnectionCls = _Connection


class _TlsPool(_Trusting, HTTPSConnectionPool):
    ConnectionCls = _TlsConnection
