"""The API of a real `nemutator up`, asked whatever its document allows: by schemathesis."""

import contextlib
import os
import re
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from socket import AF_UNIX, SHUT_WR, socket

import pytest

from scripts.open_api import TARGET
from tests.e2e.standing import Standing, standing
from tests.testbed.building import made
from tests.testbed.building.cache import MissingPartError

EXAMPLES = 3
"""Of each operation that are made up, beside those at the bounds of its document."""

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
ASKED_S = 600.0


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing(tmp_path_factory.mktemp("open-api")) as up:
        yield up


@pytest.mark.timeout(900)
def test_no_question_of_its_document_is_answered_in_another_way(
    up: Standing, tmp_path: Path
) -> None:
    try:
        package = made.schemathesis()
    except MissingPartError as missing:
        pytest.skip(str(missing))
    with relayed(up.socket("brain")) as url:
        token = (up.data_dir / "link-token").read_text()
        asked = subprocess.run(
            [
                sys.executable,
                *("-c", "from schemathesis.cli import schemathesis; schemathesis()", "run"),
                *("--url", url, "--header", f"Authorization: Bearer {token}"),
                *("--checks", ",".join(CHECKS), "--phases", "coverage,fuzzing"),
                *("--max-examples", str(EXAMPLES), "--no-shrink", "--continue-on-failure"),
                *("--warnings", "off", "--request-timeout", "60", "--seed", "20", str(TARGET)),
            ],
            capture_output=True,
            text=True,
            timeout=ASKED_S,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(package)},
        )
    said = asked.stdout + asked.stderr
    assert asked.returncode == 0, said
    selected = re.search(r"Selected: (\d+)/(\d+)", said)
    assert selected is not None, said
    assert selected[1] == selected[2] != "0"
    assert up.ready("brain")


@contextlib.contextmanager
def relayed(path: Path) -> Iterator[str]:
    """The address of a relay to a unix socket, which schemathesis cannot speak to."""

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket(AF_UNIX) as ahead:
                ahead.connect(str(path))
                back = threading.Thread(target=copy, args=(ahead, self.request))
                back.start()
                copy(self.request, ahead)
                back.join()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Relay) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            host, port = server.server_address[:2]
            yield f"http://{host!s}:{port}"
        finally:
            server.shutdown()
            serving.join()


def copy(source: socket, target: socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(1 << 16):
            target.sendall(piece)
        target.shutdown(SHUT_WR)
