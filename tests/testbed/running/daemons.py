"""A program that runs beside the tests until it is no longer needed."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.testbed.running.waiting import NotInTimeError, until

STOP_S = 15.0
TAIL_BYTES = 3000


class DaemonFailedError(Exception):
    """A daemon that ended or was not ready in time, with the end of what it said."""


@dataclass(frozen=True, slots=True)
class Ends:
    """How a daemon is ended: asked, and when the process that started it has died."""

    asked: signal.Signals = signal.SIGTERM
    orphaned: signal.Signals = signal.SIGKILL


@dataclass(slots=True)
class Daemon:
    """One process; it dies with the thread that has started it, whatever ends that."""

    name: str
    log: Path
    ends: Ends
    process: subprocess.Popen[bytes] = field(repr=False)
    begin: Callable[[], subprocess.Popen[bytes]] = field(repr=False)

    @property
    def pid(self) -> int:
        return self.process.pid

    def said(self) -> str:
        """The end of its log."""
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - TAIL_BYTES))
            return file.read().decode(errors="replace")

    def wait_until(self, ready: Callable[[], bool], *, within_s: float) -> None:
        def settled() -> bool:
            return self.process.poll() is not None or ready()

        try:
            until(settled, f"{self.name} is ready", within_s=within_s)
        except NotInTimeError as late:
            raise DaemonFailedError(f"{late}; it said:\n{self.said()}") from None
        if self.process.poll() is not None:
            code = self.process.returncode
            raise DaemonFailedError(f"{self.name} ended with {code}; it said:\n{self.said()}")

    def stop(self, *, within_s: float = STOP_S) -> None:
        """Ask it to end; one that does not is killed."""
        if self.process.poll() is None:
            self.process.send_signal(self.ends.asked)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(within_s)
        self.kill()

    def kill(self, by: signal.Signals = signal.SIGKILL) -> None:
        self.process.send_signal(by)
        self.process.wait(STOP_S)

    def begin_again(self) -> None:
        """The same command once more, when it has ended; its log goes on. It dies with this thread then."""
        self.process = self.begin()


def start(
    name: str,
    command: Sequence[str | Path],
    *,
    log: Path,
    environment: Mapping[str, str],
    user: int | None = None,
    ends: Ends | None = None,
) -> Daemon:
    """Start *command* with nothing of our environment but *environment* and a plain PATH."""
    ends = ends or Ends()
    # util-linux sets the signal after the change of user, which would take it away again.
    outer = ["setpriv", f"--pdeathsig={ends.orphaned.name.removeprefix('SIG')}"]
    if user is not None:
        outer += [f"--reuid={user}", f"--regid={user}", "--clear-groups"]

    def begin() -> subprocess.Popen[bytes]:
        with log.open("ab") as output:
            return subprocess.Popen(
                [*outer, "--", *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={"PATH": os.defpath + ":/usr/sbin:/sbin"} | dict(environment),
                # Ctrl-C of a developer is for the run, which ends its daemons in their order.
                start_new_session=True,
                cwd=log.parent,
            )

    return Daemon(name, log, ends, begin(), begin)
