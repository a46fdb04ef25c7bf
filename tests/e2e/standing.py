"""`nemutator up` for real: started as a person starts it, stopped as a person stops it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.e2e.talking import Answer, ask
from tests.processes import alive, children
from tests.testbed.running.ports import free_port

COMMAND = (sys.executable, "-m", "nemutator_ctl")

ROLES = ("brain", "credentials", "observe")

START_S = 120.0
"""Until the link is printed: a start takes about 2 s, on a machine that does nothing else."""

STOP_S = 60.0
"""The promise of Ctrl-C is 2 s; the rest is for a machine that does much else."""

KEPT = frozenset({
    "audit.key",
    "files",
    "ledger",
    "link-token",
    "nemutator.db",
    "objects",
    "secrets.json.enc",
    "secrets.key",
})  # fmt: skip
"""What a data directory holds while nothing runs: what a person put there, its keys, our own."""

LINK = re.compile(r"http://\S+/open\?key=\S+")


@dataclass(frozen=True, slots=True)
class Person:
    """Who types the commands: with which program, as whom, in which environment."""

    command: Sequence[str | Path] = COMMAND
    uid: int | None = None
    environment: Mapping[str, str] | None = None

    def start(
        self,
        *arguments: str | Path,
        stdout: int,
        stderr: int,
        stdin: int = subprocess.DEVNULL,
    ) -> "subprocess.Popen[bytes]":
        own = {name: value for name, value in os.environ.items() if "NEMUTATOR" not in name}
        return subprocess.Popen(
            [*self.command, *arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=own | {"PYTHONUNBUFFERED": "1"} | dict(self.environment or {}),
            user=self.uid,
            group=self.uid,
            extra_groups=None if self.uid is None else [],
            start_new_session=True,
            cwd="/",
        )

    def run(self, *arguments: str | Path) -> "Ran":
        """Until it ends by itself; one that does not is killed, and its test fails."""
        with self.start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                stdout, stderr = process.communicate(timeout=START_S)
            finally:
                process.kill()
        return Ran(process.returncode, stdout.decode(), stderr.decode())


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    stdout: str
    stderr: str


ME = Person()


@dataclass(frozen=True, slots=True)
class Standing:
    process: subprocess.Popen[bytes]
    data_dir: Path
    output: Path
    console: tuple[str, int]
    person: Person

    def socket(self, role: str) -> Path:
        return self.data_dir / f"{role}.sock"

    def api(self, path: str) -> Answer:
        """The brain's answer to a local caller who has the link token."""
        token = (self.data_dir / "link-token").read_text()
        return ask(self.socket("brain"), path, {"Authorization": f"Bearer {token}"})

    def run(self, command: str, *arguments: str) -> Ran:
        """Another command of ours on the same data directory."""
        return self.person.run(command, "--data-dir", self.data_dir, *arguments)

    def ready(self, role: str) -> bool:
        try:
            return ask(self.socket(role), "/readyz").status == 200
        except OSError:
            return False

    def complete(self) -> bool:
        """Whether each process is ready and this machine reported, which on a slow one is after the link."""
        return all(map(self.ready, ROLES)) and bool(self.api("/api/v1/topology").document["nodes"])

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
        printed = self.run("link").stdout
        found = LINK.search(printed)
        assert found, f"no link in {printed!r}"
        return found.group()

    def children(self) -> dict[str, int]:
        """Pids of the processes under `up`, by their role."""
        return {role: pid for pid in children(self.process.pid) for role in _roles(pid)}

    def family(self) -> set[int]:
        """`up` and all that it has started, directly or not."""
        found, new = set[int](), {self.process.pid}
        while new:
            found |= new
            new = {child for pid in new for child in children(pid)} - found
        return found

    def stop(self) -> None:
        """Ctrl-C; proves that nothing stays behind."""
        family = self.family()
        # As a terminal does it: to everybody in the foreground.
        os.killpg(self.process.pid, signal.SIGINT)
        code = self.process.wait(timeout=STOP_S)
        assert code == 0, f"ended with {code}:\n{self.said()}"
        assert not (left := alive(family)), f"still there: {left}"
        files = {path.name for path in self.data_dir.iterdir()}
        assert {"link-token", "nemutator.db"} <= files <= KEPT, f"left behind: {files - KEPT}"


def _roles(pid: int) -> Iterator[str]:
    try:
        words = psutil.Process(pid).cmdline()
    except psutil.NoSuchProcess:
        return
    yield from (role for role in ROLES if role in words)


@contextmanager
def standing(directory: Path, *arguments: str, person: Person = ME) -> Iterator[Standing]:
    """`nemutator up` with its data and its output in *directory*, once all of it is there, to its end."""
    with starting(directory, *arguments, person=person) as up:
        up.wait_until(lambda: LINK.search(up.said()), "the link", within_s=START_S)
        up.wait_until(up.complete, "all processes and a report", within_s=START_S)
        yield up
        if up.process.poll() is None:
            up.stop()


@contextmanager
def starting(directory: Path, *arguments: str, person: Person = ME) -> Iterator[Standing]:
    """The same, given away at once, and simply killed at the end if it still runs."""
    output = directory / "output"
    data_dir = directory / "data"
    console = ("127.0.0.1", free_port())
    where = "{}:{}".format(*console)
    with output.open("wb") as file:
        process = person.start(
            "up", "--data-dir", data_dir, "--console", where, *arguments,
            stdout=file.fileno(), stderr=file.fileno(),
        )  # fmt: skip
    try:
        yield Standing(process, data_dir, output, console, person)
    finally:
        # Its children end with it, by their lifelines.
        if process.poll() is None:
            process.kill()
        process.wait(timeout=STOP_S)


@contextmanager
def small_disk(where: Path, size: str, *options: str) -> Iterator[Path]:
    """A file system of *size*, which only root can mount."""
    where.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", ",".join([f"size={size}", *options]), "tmpfs", where],
        check=True,
    )
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", where], check=True)


def fill(directory: Path, *, leave: int = 0) -> Path:
    """Use all of the space there but *leave* bytes; the file that does so."""
    ballast = directory / "ballast"
    with ballast.open("wb", buffering=0) as file:
        file.write(b"\0" * (shutil.disk_usage(directory).free - leave))
    return ballast
