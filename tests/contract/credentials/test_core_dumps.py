"""Seen from outside: a process that holds secrets leaves no core, however it ends."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.fakes.pod_sockets import PATIENCE_S
from tests.testbed.running.waiting import until

ASLEEP = (sys.executable, "-c", "import time; time.sleep(600)")


CORES_WANTED = 'ulimit -c "$(ulimit -H -c)"; exec "$@"'


Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Start]:
    """Starts commands with as large a core as they may have."""
    with contextlib.ExitStack() as ends:

        def start(*command: str) -> "subprocess.Popen[bytes]":
            process = subprocess.Popen(
                ["/bin/sh", "-c", CORES_WANTED, "sh", *command],
                cwd=tmp_path,
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            ends.enter_context(process)
            ends.callback(process.kill)
            return process

        yield start


def until_it_is(process: "subprocess.Popen[bytes]", command: Sequence[str]) -> None:
    words, shown = "\0".join(command).encode(), Path(f"/proc/{process.pid}/cmdline")
    until(lambda: shown.read_bytes().startswith(words), "it has become it", within_s=PATIENCE_S)


def leaves_a_core(process: "subprocess.Popen[bytes]") -> bool:
    process.send_signal(signal.SIGABRT)
    ended = os.waitid(os.P_PID, process.pid, os.WEXITED)
    assert ended is not None
    process.returncode = -signal.SIGABRT
    return ended.si_code == os.CLD_DUMPED


def test_the_agent_has_none(tmp_path: Path, started: Start) -> None:
    words = (
        sys.executable,
        "-m",
        "nemutator_agent",
        "credentials",
        f"--data-dir={tmp_path / 'data'}",
    )
    process = started(*words)
    door = tmp_path / "data" / "agent.sock"
    until(lambda: door.exists() or process.poll() is not None, "it listens", within_s=PATIENCE_S)
    limits = Path(f"/proc/{process.pid}/limits").read_text()
    assert re.search(r"^Max core file size +0 +0 ", limits, re.MULTILINE)
    assert not leaves_a_core(process)
    assert list(tmp_path.glob("core*")) == []


def test_exec_has_none_while_it_holds_values_and_its_command_has_what_it_wants(
    started: Start,
) -> None:
    control = started(*ASLEEP)
    until_it_is(control, ASLEEP)
    if not leaves_a_core(control):
        pytest.skip("this machine writes no cores")
    ctl = (sys.executable, "-m", "nemutator_ctl", "exec")
    # No agent is there: it waits for one, as it does while it holds the first of several values.
    waits = started(*ctl, "--socket=nowhere.sock", "--env=A=b", "--", *ASLEEP)
    assert waits.stderr is not None
    assert waits.stderr.readline().startswith(b"nemutator exec: ")
    assert not leaves_a_core(waits)
    command = started(*ctl, "--", *ASLEEP)
    until_it_is(command, ASLEEP)
    assert leaves_a_core(command)
