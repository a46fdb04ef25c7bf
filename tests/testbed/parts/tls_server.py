"""A server of the test's own that a control plane can call over TLS: a webhook, an aggregated API."""

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.certificates import Authority
from tests.testbed.running.ports import LOOPBACK

LARGEST_BODY = 4 * 2**20
CALL_S = 60.0


@dataclass(frozen=True, slots=True)
class Asked:
    path: str
    headers: Mapping[str, str]
    body: bytes


Answer = Callable[[Asked], bytes | None]
"""The JSON that answers a GET or a POST; None for what is not there."""


@contextmanager
def serving(
    authority: Authority, answer: Answer, folder: Path, *, host: str = LOOPBACK, name: str = ""
) -> Iterator[int]:
    """The port, at *host* and under its further *name*; *answer* is called in threads."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = CALL_S

        def do_GET(self) -> None:
            length = min(int(self.headers.get("Content-Length", 0)), LARGEST_BODY)
            asked = Asked(self.path, dict(self.headers), self.rfile.read(length))
            body = answer(asked)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Nothing: what was asked is for the test to say."""

    chain = folder / "server.pem"
    chain.write_text(authority.server(host, *filter(None, [name])).both)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    with ThreadingHTTPServer((host, 0), Handler) as server:
        # The handshake is done in the connection's own thread: a silent caller holds up nobody.
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = threading.Thread(target=server.serve_forever, name="tls server")
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
