"""A server of the test's own that a control plane can call: over TLS, on loopback, in a thread."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.certificates import Authority
from tests.testbed.running.ports import LOOPBACK

Answer = Callable[[str, bytes], bytes]
"""From the path and the body of a POST to the JSON that answers it."""

LARGEST_BODY = 4 * 2**20
CALL_S = 10.0


@contextmanager
def serving(authority: Authority, answer: Answer, folder: Path) -> Iterator[str]:
    """Its URL; *answer* is called in threads of the server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = CALL_S

        def do_POST(self) -> None:
            length = min(int(self.headers["Content-Length"]), LARGEST_BODY)
            body = answer(self.path, self.rfile.read(length))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Nothing: what was asked is for the test to say."""

    chain = folder / "server.pem"
    chain.write_text(authority.server(LOOPBACK).both)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        # The handshake is done in the connection's own thread: a silent caller holds up nobody.
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = threading.Thread(target=server.serve_forever, name="tls server")
        thread.start()
        try:
            yield f"https://{LOOPBACK}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
