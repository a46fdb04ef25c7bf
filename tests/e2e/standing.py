"""`nemutator up` for real: started as a person starts it, stopped as a person stops it."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

COMMAND = (sys.executable, "-m", "nemutator_ctl")

START_S = 30.0
"""Until the link is printed: a start takes about 2 s, on a machine that does nothing else."""

STOP_S = 10.0

LINK = re.compile(r"http://\S+/open\?key=\S+")


@dataclass(frozen=True, slots=True)
class Standing:
    process: subprocess.Popen[bytes]
    data_dir: Path
    output: Path

    def said(self) -> str:
        """All that `up` and its processes wrote so far."""
        return self.output.read_text(errors="replace")

    def wait_until(self, holds: Callable[[], object], what: str, *, within_s: float) -> None:
        """Look often until *holds*; a process that ends meanwhile is an answer too."""
        deadline = time.monotonic() + within_s
        while not holds():
            assert time.monotonic() < deadline, f"{what}: not within {within_s} s:\n{self.said()}"
            try:
                code = self.process.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                continue
            assert holds(), f"{what}: ended with {code}:\n{self.said()}"

    @property
    def link(self) -> str:
        """The one-time link that was printed at the start."""
        found = LINK.search(self.said())
        assert found, f"no link in:\n{self.said()}"
        return found.group()

    def another_link(self) -> str:
        printed = subprocess.run(
            [*COMMAND, "link", "--data-dir", self.data_dir],
            check=True,
            capture_output=True,
            text=True,
            timeout=10,
        ).stdout
        found = LINK.search(printed)
        assert found, f"no link in {printed!r}"
        return found.group()

    def children(self) -> dict[str, int]:
        """Pids of the processes under `up`, by their role."""
        pids = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return {role: pid for pid in map(int, pids.split()) for role in _roles(pid)}

    def stop(self) -> None:
        """Ctrl-C; proves that nothing stays behind."""
        children = self.children()
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=STOP_S)
        assert code == 0, f"ended with {code}:\n{self.said()}"
        left = {role: pid for role, pid in children.items() if Path(f"/proc/{pid}").exists()}
        assert not left, f"still there: {left}"


def _roles(pid: int) -> Iterator[str]:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return
    yield from (role for role in ("brain", "observe") if role.encode() in words)


def free_port() -> int:
    """A port that was free just now: one that stays the same when the brain is started again."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        assert isinstance(port, int)
        return port


@contextmanager
def standing(directory: Path, *arguments: str) -> Iterator[Standing]:
    """`nemutator up` with its data and its output in *directory*, from its link to its end."""
    output = directory / "output"
    data_dir = directory / "data"
    console = f"127.0.0.1:{free_port()}"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [*COMMAND, "up", "--data-dir", data_dir, "--console", console, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
    up = Standing(process, data_dir, output)
    try:
        up.wait_until(lambda: LINK.search(up.said()), "the link", within_s=START_S)
        yield up
        if process.poll() is None:
            up.stop()
    finally:
        # After a failure only: its children end with it, by their lifelines.
        if process.poll() is None:
            process.kill()
        process.wait(timeout=STOP_S)
