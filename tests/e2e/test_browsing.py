"""The browser of these tests keeps its requests while the machine's interfaces change, as they do beside a testbed."""

import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Page, expect

PARTS = 24
"""More than it asks one server for at once: those that wait for a connection are what it would give up."""

PAGE = "".join(f'<script src="/{part}"></script>' for part in range(PARTS))


class Parts(BaseHTTPRequestHandler):
    """A page of many parts, before each of which a pod comes and goes, as the testbed's do."""

    def do_GET(self) -> None:
        if self.path != "/":
            come_and_go(f"nemu-{secrets.token_hex(3)}-b", secrets.randbelow(200))
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path == "/" else "text/javascript")
        self.end_headers()
        self.wfile.write((PAGE if self.path == "/" else "document.write('<p>here</p>')").encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: it is of no interest."""


def come_and_go(name: str, network: int) -> None:
    ip("link", "add", name, "type", "veth", "peer", "name", f"{name}p")
    try:
        ip("address", "add", f"198.18.{network}.5/30", "dev", name)
        ip("link", "set", name, "up")
    finally:
        ip("link", "delete", name)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextmanager
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Parts) as serving:
        thread = Thread(target=serving.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{serving.server_port}/"
        finally:
            serving.shutdown()
            thread.join()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make interfaces")
def test_no_request_is_given_up_when_an_address_comes_or_goes(page: Page) -> None:
    with server() as url:
        page.goto(url)
        expect(page.locator("p")).to_have_count(PARTS)
