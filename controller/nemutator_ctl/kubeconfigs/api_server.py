"""Asks an API server, and opens ports of pods through it: on the standard library's HTTP and TLS.

One command asks it three times. The generated client of the `kubernetes` package would take longer to
import than all of that takes.
"""

import base64
import http.client
import json
import os
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from nemutator_common.secret import Secret

from nemutator_ctl.kubeconfigs.files import KubeCredentials
from nemutator_ctl.kubeconfigs.forwarded_port import ForwardedPort
from nemutator_ctl.kubeconfigs.model import KubeconfigError, KubeServer, Pem
from nemutator_ctl.kubeconfigs.port_frames import PROTOCOL, accepted

CALL_S = 20.0
LARGEST = 16 << 20
LONGEST_WHY = 200


class ApiServerError(Exception):
    """The server answers, and not with what was asked for."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(status, why)
        self.status = status
        self.why = " ".join(why.split())[:LONGEST_WHY]


class ApiServer:
    """Raises ApiServerError, OSError and http.client.HTTPException."""

    def __init__(self, server: KubeServer, credentials: KubeCredentials) -> None:
        self.where = server.url
        self._server = server
        parts = urlsplit(server.url if "://" in server.url else f"https://{server.url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise KubeconfigError("its server is no address of HTTP")
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._tls = _trusting(server, credentials) if parts.scheme == "https" else None
        self._proxy = _proxy(server, parts.scheme, parts.hostname)
        self._headers = {"User-Agent": "nemutator"}
        if credentials.token:
            self._headers["Authorization"] = f"Bearer {credentials.token.reveal()}"
        elif credentials.password:
            encoded = base64.b64encode(credentials.password.reveal().encode()).decode()
            self._headers["Authorization"] = f"Basic {encoded}"
        self._open: http.client.HTTPConnection | None = None

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        document: object = None,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        """The answer, an object of JSON."""
        headers = self._headers | {"Accept": "application/json"}
        body = None
        if document is not None:
            body = json.dumps(document).encode()
            headers["Content-Type"] = content_type
        target = self._target(path, query)
        response, content = self._exchanged(method, target, body, headers)
        if len(content) > LARGEST:
            self._open = None
            raise http.client.HTTPException("an answer that is too large")
        return _object(response.status, response.reason, content)

    def _exchanged(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """One answer, by the connection of the last one where that is still open."""
        kept, self._open = self._open, None
        for connection in filter(None, (kept, self._connection())):
            try:
                connection.request(method, target, body=body, headers=dict(headers))
                response = connection.getresponse()
                content = response.read(LARGEST + 1)
            except (http.client.RemoteDisconnected, ConnectionError):
                # A server ends what was idle for long. What is asked here may be asked twice.
                connection.close()
                if connection is kept:
                    continue
                raise
            except BaseException:
                connection.close()
                raise
            self._open = connection
            return response, content
        raise AssertionError("a new connection answers or raises")

    def ask_with_form(
        self, path: str, form: Mapping[str, str], *, timeout_s: float, largest: int
    ) -> tuple[int, bytes]:
        """POST of *form*: the status, and of the answer one byte more than *largest* at most."""
        connection = self._connection()
        connection.timeout = timeout_s
        # Redirects are not followed: they would take a token to somebody else.
        headers = self._headers | {
            "Connection": "close",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        try:
            connection.request(
                "POST", self._target(path, None), body=urlencode(form).encode(), headers=headers
            )
            response = connection.getresponse()
            return response.status, response.read(largest + 1)
        finally:
            connection.close()

    def forwarded(self, namespace: str, pod: str, port: int) -> ForwardedPort:
        """A new connection to *port* of *pod*."""
        key = base64.b64encode(os.urandom(16)).decode()
        connection = self._connection()
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/portforward"
        try:
            connection.request(
                "GET",
                self._target(path, {"ports": str(port)}),
                # Without Accept: to a port that is forwarded the API server answers 406 then.
                headers=self._headers
                | {
                    "Connection": "Upgrade",
                    "Upgrade": "websocket",
                    "Sec-WebSocket-Version": "13",
                    "Sec-WebSocket-Key": key,
                    "Sec-WebSocket-Protocol": PROTOCOL,
                },
            )
            response = connection.getresponse()
            if response.status != http.client.SWITCHING_PROTOCOLS:
                _object(response.status, response.reason, response.read(LARGEST))
                raise ApiServerError(response.status, "it does not forward ports by WebSocket")
            if response.headers.get("Sec-WebSocket-Accept") != accepted(key):
                raise http.client.HTTPException("what answers is no WebSocket")
            return ForwardedPort(connection, response, port)
        except BaseException:
            connection.close()
            raise

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._proxy[:2] if self._proxy else (self._host, self._port)
        if self._tls is None:
            made = http.client.HTTPConnection(host, port, timeout=CALL_S)
        else:
            name = self._server.name or self._host
            made = _NamedConnection(
                host, port or 443, timeout=CALL_S, tls=self._tls, server_name=name
            )
        if self._proxy:
            made.set_tunnel(
                self._host, self._port or (443 if self._tls else 80), headers=self._proxy[2]
            )
        return made

    def _target(self, path: str, query: Mapping[str, str] | None) -> str:
        return f"{self._prefix}{path}" + (f"?{urlencode(query)}" if query else "")


class _NamedConnection(http.client.HTTPConnection):
    """TLS with a server that may have another name in its certificate than in its address."""

    def __init__(
        self, host: str, port: int, *, timeout: float, tls: ssl.SSLContext, server_name: str
    ) -> None:
        super().__init__(host, port, timeout=timeout)
        self._context = tls
        self._server_name = server_name

    def connect(self) -> None:
        super().connect()
        self.sock = self._context.wrap_socket(self.sock, server_hostname=self._server_name)


def _object(status: int, reason: str, content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        found = {}
        if status < 300:
            raise ApiServerError(status, "its answer is no JSON")
    if status >= 300:
        raise ApiServerError(status, f"{status} {found.get('message') or reason}")
    return found


def _trusting(server: KubeServer, credentials: KubeCredentials) -> ssl.SSLContext:
    try:
        if server.is_insecure:
            # What the person's own kubeconfig asks for.
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        elif isinstance(server.authority, Secret):
            context = ssl.create_default_context(cadata=server.authority.reveal())
        else:
            context = ssl.create_default_context(cafile=server.authority)
        if credentials.certificate is not None:
            _load_certificate(context, credentials.certificate, credentials.key)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise KubeconfigError(f"its certificates cannot be read: {why}") from error
    return context


def _load_certificate(context: ssl.SSLContext, certificate: Pem, key: Pem | None) -> None:
    if isinstance(certificate, Path) and not isinstance(key, Secret):
        context.load_cert_chain(certificate, key)
        return
    # OpenSSL reads keys from files only; this one is ours alone (0600), and gone at once.
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        for each in (certificate, key):
            if each is not None:
                file.write(
                    each.reveal().encode() if isinstance(each, Secret) else each.read_bytes()
                )
                file.write(b"\n")
        file.flush()
        context.load_cert_chain(file.name)


def _proxy(server: KubeServer, scheme: str, host: str) -> tuple[str, int, dict[str, str]] | None:
    url = server.proxy or _proxy_of_environment(scheme, host)
    if not url:
        return None
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname:
        raise KubeconfigError("its proxy is none of HTTP (http://HOST:PORT)")
    headers = {}
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return parts.hostname, parts.port or 80, headers


def _proxy_of_environment(scheme: str, host: str) -> str:
    if not any(
        os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
    ):
        return ""
    from urllib.request import getproxies_environment, proxy_bypass

    if host in ("localhost", "::1") or host.startswith("127.") or proxy_bypass(host):
        return ""
    return getproxies_environment().get(scheme, "")
