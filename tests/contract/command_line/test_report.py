"""`nemutator report` before a brain that has a recognisable secret wherever an operator can put one."""

import io
import json
import socketserver
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from nemutator_common.data_directory import DataDirectory
from nemutator_common.errors import ExitCode
from nemutator_ctl.__main__ import main
from nemutator_ctl.report.command import ASKED, RUNNING

PLANTED = {
    "vault token": "hvs.CAESIPLANTEDVAULTTOKEN",
    "database": "postgresql://nemutator:PLANTED-DATABASE@db:5432/nemutator",
    "redis": "rediss://:PLANTED-REDIS@redis:6379",
    "bucket id": "AKIAPLANTEDBUCKET001",
    "bucket key": "PLANTED+BUCKET/KEY",
    "bearer": "Bearer PLANTED-BEARER",
    "basic": "Basic UExBTlRFRDpiYXNpYw==",
    "proxy": "http://anna:PLANTED-PROXY@proxy:3128",
    "kubeconfig": "eyJhbGciOiJSUzI1NiJ9.UExBTlRFRC1LVUJF.c2lnbmVkUExBTlRFRA",
    "variable": "PLANTED-VARIABLE",
    "annotation": "PLANTED-ANNOTATION",
    "policy": "PLANTED-POLICY",
    "log line": "PLANTED-LOG",
}
PARTS = ("PLANTED", "UExBTlRFRD", "UExBTlRFRC")
"""Of them, as they would stand there in plain text or in base64."""

EVERYTHING = " ".join(PLANTED.values())


def item() -> dict[str, Any]:
    """With all of them in every field in which strangers' text may stand."""
    urls = [PLANTED[what] for what in ("database", "redis", "proxy", "kubeconfig", "vault token")]
    return {
        "kind": "Pod",
        # Where somebody has called a thing so.
        "name": " ".join(urls),
        "path": PLANTED["bearer"],
        "namespace": PLANTED["basic"],
        "id": PLANTED["bucket id"],
        "labels": {PLANTED["annotation"]: EVERYTHING},
        "annotations": {PLANTED["annotation"]: EVERYTHING},
        "environment": {PLANTED["variable"]: EVERYTHING},
        "command": EVERYTHING,
        "script": EVERYTHING,
        "why": EVERYTHING,
        "reason": EVERYTHING,
        "taints": [EVERYTHING],
        "subject": {"name": "web", "note": EVERYTHING},
        "edits": [{"path": "spec", "before": EVERYTHING, "after": {"a": EVERYTHING}, "value": 7}],
    }


class Listening(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    status = 200


class Answering(BaseHTTPRequestHandler):
    server: Listening

    def do_GET(self) -> None:
        sentence = f"the store does not answer: {EVERYTHING} password={PLANTED['policy']}"
        if self.path.startswith("/api/") and self.server.status != 200:
            body = json.dumps({"error": sentence, "remedy": EVERYTHING}).encode()
        elif self.path.startswith("/api/"):
            body = json.dumps({"items": [item()], "problem": sentence}).encode()
        else:
            label = f"{PLANTED['database']} {PLANTED['proxy']} {PLANTED['vault token']}"
            body = f'nemutator_asked_total{{where="{label}"}} 1\n'.encode()
        self.send_response(self.server.status if self.path.startswith("/api/") else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "local"

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its own name
        """Nobody reads it."""


@pytest.fixture
def brain(tmp_path: Path) -> Iterator[Listening]:
    directory = DataDirectory(tmp_path)
    directory.link_token.write_text("PLANTED-LINK-TOKEN")
    servers = [Listening(str(directory.socket(role)), Answering) for role in RUNNING]
    threads = [threading.Thread(target=one.serve_forever, args=(0.05,)) for one in servers]
    for thread in threads:
        thread.start()
    yield servers[0]
    for one in servers:
        one.shutdown()
        one.server_close()
    for thread in threads:
        thread.join()


def packed(directory: Path) -> dict[str, str]:
    """What is in the archive that the command has written, unpacked."""
    where = directory / "report.tar.gz"
    assert main(["report", str(where), f"--data-dir={directory}"]) == ExitCode.OK
    with tarfile.open(fileobj=io.BytesIO(where.read_bytes())) as archive:
        found = {
            member.name: opened.read().decode()
            for member in archive
            if (opened := archive.extractfile(member)) is not None
        }
    assert {f"nemutator-report/readyz/{role}.txt" for role in RUNNING} <= set(found)
    return found


def leaks(found: dict[str, str]) -> dict[str, str]:
    return {
        name: content
        for name, content in found.items()
        if any(part in name or part in content for part in PARTS)
    }


@pytest.mark.parametrize("what", sorted(PLANTED))
def test_each_is_found_where_nothing_is_taken_out(what: str) -> None:
    assert leaks({"problems.txt": f"the reason: {PLANTED[what]}"})


def test_nothing_that_an_operator_has_put_anywhere_is_in_the_archive(
    brain: Listening, tmp_path: Path
) -> None:
    found = packed(tmp_path)
    assert leaks(found) == {}
    for name in ASKED:
        assert json.loads(found[f"nemutator-report/brain/{name}.json"])["items"]
    assert found["nemutator-report/problems.txt"] == ""


@pytest.mark.parametrize("status", [400, 403, 500, 503, 507])
def test_nor_in_what_could_not_be_had(brain: Listening, tmp_path: Path, status: int) -> None:
    brain.status = status
    problems = packed(tmp_path)["nemutator-report/problems.txt"]
    assert len(problems.splitlines()) == len(ASKED)
    for part in (PLANTED["policy"], *(PLANTED[what] for what in ("database", "redis", "proxy"))):
        assert part not in problems
