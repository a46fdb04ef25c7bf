"""Somebody at the credentials process's private socket, who writes down what mount tells him.

For each publication there is a socket that listens in the pod's directory, and nobody serves it:
tests accept on it themselves.
"""

import contextlib
import json
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

from nemutator_agent.publications import INSTANCE_PATH, PUBLICATIONS_PATH

from tests.testbed.parts.node.node import Node


@dataclass
class StandIn:
    node: Node
    life: int = 1
    puts: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Volume and publication, as they came."""
    deletes: list[str] = field(default_factory=list)
    listeners: dict[str, socket.socket] = field(default_factory=dict)

    def restart(self) -> None:
        """Forget everything, and be another one from now on."""
        for listener in self.listeners.values():
            listener.close()
        self.listeners.clear()
        self.puts.clear()
        self.life += 1

    def published(self, pod: str) -> list[tuple[str, dict[str, Any]]]:
        return [(volume, one) for volume, one in self.puts if one["pod"]["name"] == pod]

    def put(self, volume: str, publication: dict[str, Any]) -> None:
        if volume not in self.listeners:
            self.listeners[volume] = _listening(
                self.node.seen(Path(publication["directory"]["path"]))
            )
        self.puts.append((volume, publication))

    def delete(self, volume: str) -> None:
        if listener := self.listeners.pop(volume, None):
            listener.close()
        self.deletes.append(volume)


def _listening(directory: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    fd = os.open(directory, os.O_PATH | os.O_DIRECTORY)
    try:
        # The path through the node's namespace is longer than an address can be.
        path = f"/proc/self/fd/{fd}/agent.sock"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        listener.bind(path)
        os.chmod(path, 0o666)
    finally:
        os.close(fd)
    listener.listen()
    listener.settimeout(60)
    return listener


@contextlib.contextmanager
def standing_in(node: Node, path: Path) -> Iterator[StandIn]:
    stand_in = StandIn(node)

    class Desk(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.path == INSTANCE_PATH
            body = json.dumps({"id": f"life {stand_in.life}"}).encode()
            self._say(200 if known else 404, body)

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            stand_in.put(self._volume(), json.loads(body))
            self._say(204)

        def do_DELETE(self) -> None:
            stand_in.delete(self._volume())
            self._say(204)

        def _volume(self) -> str:
            return self.path.removeprefix(f"{PUBLICATIONS_PATH}/")

        def _say(self, status: int, body: bytes = b"") -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def address_string(self) -> str:
            return "mount"

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingUnixStreamServer(str(path), Desk) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield stand_in
        finally:
            server.shutdown()
            thread.join()
            stand_in.restart()
