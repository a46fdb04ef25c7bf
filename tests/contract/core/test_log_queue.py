"""A process whose log nobody reads goes on, and says afterwards what was not written."""

import json
import subprocess
import sys

import pytest

from tests.fakes.pod_sockets import PATIENCE_S

LINES = 5_000

PROGRAM = f"""
import logging, sys
from nemutator_common import logs
from nemutator_common.settings import LogFormat, LogLevel

logs.configure(role="observe", level=LogLevel.INFO, style=LogFormat.JSON)
log = logging.getLogger("x")
for number in range({LINES}):
    log.info("line", {{"number": number, "filling": "x" * 1000}})
print("logged", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def process() -> "subprocess.Popen[str]":
    """It logs more than a pipe and the queue can hold, and then waits for the end of its input."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.timeout(PATIENCE_S)
def test_a_process_goes_on_and_ends_while_nobody_reads_its_log(
    process: "subprocess.Popen[str]",
) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "logged\n"
    process.stdin.close()
    assert process.wait(PATIENCE_S) == 0
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()


@pytest.mark.timeout(PATIENCE_S)
def test_each_line_is_written_in_its_order_or_told_as_dropped(
    process: "subprocess.Popen[str]",
) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "logged\n"
    _, log = process.communicate("", timeout=PATIENCE_S)
    assert process.returncode == 0
    found = [json.loads(line) for line in log.splitlines()]
    written = [line["number"] for line in found if line["event"] == "line"]
    dropped = sum(line["count"] for line in found if line["event"] == "log_lines_dropped")
    assert written == sorted(set(written))
    assert 0 < len(written) < LINES
    assert len(written) + dropped == LINES
