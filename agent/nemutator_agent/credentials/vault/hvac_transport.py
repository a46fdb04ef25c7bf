"""HTTP for hvac with two bounds that requests lacks: one deadline for all of a call, and a largest answer.

A timeout of requests is one for each piece that arrives: an answer that comes in drips would keep its
thread for ever.
"""

import http.client
import io
import socket
import ssl
import time
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from nemutator_agent.credentials.vault.failures import VaultUnavailableError
from nemutator_agent.credentials.vault.hvac_failures import outage_of

CONNECT_S = 3.0

LARGEST_ANSWER = 2 << 20
"""Vault keeps at most 1 MiB at one path. A larger answer would take the memory that all pods share."""

_PIECE = 64 << 10


def timeout(answer_s: float) -> urllib3.Timeout:
    """For all of a call, from its connection to the last byte of the answer."""
    return urllib3.Timeout(total=answer_s, connect=min(CONNECT_S, answer_s))


class VaultTransport(HTTPAdapter):
    """*context*: the TLS context of all connections, because one for each would cost up to 0.7 MiB and
    80 ms. Raises what `outage_of` finds in an answer, except for who asks for a stream, and so for every
    answer as it is."""

    def __init__(self, context: ssl.SSLContext, *, connections: int) -> None:
        self._context = context
        super().__init__(pool_connections=1, pool_maxsize=connections, max_retries=0)

    def init_poolmanager(self, *positional: Any, **named: Any) -> None:
        super().init_poolmanager(*positional, **named, ssl_context=self._context)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}

    def build_connection_pool_key_attributes(
        self, request: Any, verify: Any, cert: Any = None
    ) -> Any:
        where, _ = super().build_connection_pool_key_attributes(request, verify, cert)
        return where, {"ssl_context": self._context} if where["scheme"] == "https" else {}

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """The original would add the public certificate authorities to the context."""

    def send(self, request: Any, *positional: Any, **named: Any) -> Any:
        # What is packed could unpack to any size.
        request.headers["Accept-Encoding"] = "identity"
        response = super().send(request, *positional, **{**named, "stream": True})
        body = _body(response)
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
                raise VaultUnavailableError("malformed", why)
    except urllib3.exceptions.ReadTimeoutError:
        raise requests.exceptions.ReadTimeout from None
    except urllib3.exceptions.HTTPError as error:
        raise requests.exceptions.ConnectionError(type(error).__name__) from None
    except VaultUnavailableError:
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


class _TlsConnection(HTTPSConnection):
    response_class = _Answer


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection
