"""hvac on the socket of a pod, for applications: it needs neither a token nor a login."""

import socket
from typing import Any

import hvac  # type: ignore[import-untyped]
import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool

from nemutator_common import names

CALL_S = 30.0
_URL = "http://nemutator"
"""A name for the form's sake: the socket is where all is sent."""


def vault_client(path: str = f"{names.POD_DIRECTORY}/{names.POD_SOCKET}", **options: Any) -> Any:
    """A client that asks the socket at *path*; *options* are further ones of `hvac.Client`."""
    session = requests.Session()
    # No proxy and no .netrc: there is nothing between.
    session.trust_env = False
    session.mount(_URL, _SocketAdapter(path))
    options = {"timeout": CALL_S, **options}
    # An empty token: without one, hvac would look into the environment and the home directory.
    return hvac.Client(url=_URL, token="", session=session, strict_http=True, **options)


class _SocketConnection(HTTPConnection):
    path = ""

    def _new_conn(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(CALL_S)
        try:
            connection.connect(self.path)
        except OSError:
            connection.close()
            raise
        return connection


class _SocketAdapter(HTTPAdapter):
    def __init__(self, path: str) -> None:
        super().__init__()
        self._pool = HTTPConnectionPool("nemutator")
        self._pool.ConnectionCls = type("SocketConnection", (_SocketConnection,), {"path": path})

    def get_connection_with_tls_context(self, *_: Any, **__: Any) -> HTTPConnectionPool:
        return self._pool

    def close(self) -> None:
        self._pool.close()
        super().close()
