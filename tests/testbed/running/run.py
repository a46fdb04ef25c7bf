"""One run of the testbed: its directory, its daemons, and the end of both.

All that a run does to the machine is inside its directory, or is undone at its end, or is found by
`leftovers` when it had no end: a run that is killed leaves its directory, whose lock nobody holds.
"""

import contextlib
import fcntl
import os
import secrets
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.testbed.running import daemons, leftovers
from tests.testbed.running.daemons import Daemon, Ends
from tests.testbed.running.leftovers import LOCK, MARK

LOGS = "logs"


@dataclass(frozen=True, slots=True)
class Run:
    directory: Path
    _ending: contextlib.ExitStack
    daemons: dict[str, Daemon] = field(default_factory=dict, repr=False)
    """By their names; of two of one name the last."""

    @property
    def id(self) -> str:
        """For what has a name on the machine: interfaces and cgroups."""
        return self.directory.name

    @property
    def mark(self) -> Mapping[str, str]:
        """In the environment of all that the run starts, so that it can be found."""
        return {MARK: str(self.directory)}

    @property
    def logs(self) -> Path:
        return self.directory / LOGS

    def folder(self, name: str, mode: int = 0o700) -> Path:
        """A directory of the run's own, made now."""
        folder = self.directory / name
        folder.mkdir()
        folder.chmod(mode)
        return folder

    def file(self, name: str, content: str | bytes, mode: int = 0o600) -> Path:
        """A file that nobody else can read at any time, its folder made where it is missing."""
        path = self.directory / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(opened, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            os.fchmod(file.fileno(), mode)
        return path

    def daemon(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        ready: Callable[[], bool],
        within_s: float,
        environment: Mapping[str, str] | None = None,
        user: int | None = None,
        stop: signal.Signals = signal.SIGTERM,
        death: signal.Signals = signal.SIGKILL,
    ) -> Daemon:
        """Start it, wait until it is *ready*, and stop it when the run ends."""
        daemon = self.started(
            name, command, environment=environment, user=user, stop=stop, death=death
        )
        daemon.wait_until(ready, within_s=within_s)
        return daemon

    def started(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        user: int | None = None,
        stop: signal.Signals = signal.SIGTERM,
        death: signal.Signals = signal.SIGKILL,
    ) -> Daemon:
        """The same without waiting: for daemons that become ready together."""
        daemon = daemons.start(
            name,
            command,
            log=self.logs / f"{name}.log",
            environment={"HOME": str(self.directory), **(environment or {}), **self.mark},
            user=user,
            ends=Ends(asked=stop, orphaned=death),
        )
        self.daemons[name] = daemon
        self._ending.callback(daemon.stop)
        return daemon

    def at_end(self, undo: Callable[[], Any]) -> None:
        """Have *undo* called at the end: what came last goes first."""
        self._ending.callback(undo)

    def keep_logs(self, where: Path) -> None:
        """Copy what the daemons wrote: the directory of the run goes with the run."""
        shutil.copytree(self.logs, where, dirs_exist_ok=True)


@contextlib.contextmanager
def running() -> Iterator[Run]:
    """A new run, after what killed runs have left behind is cleaned away."""
    directory = leftovers.runs_directory() / secrets.token_hex(3)
    with contextlib.ExitStack() as held:
        with leftovers.nobody_else_begins():
            leftovers.clean_dead_runs()
            directory.mkdir(mode=0o711)
            directory.chmod(0o711)  # a database's own user must pass through
            (directory / LOGS).mkdir(mode=0o700)
            lock = held.enter_context((directory / LOCK).open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write(str(os.getpid()))
            lock.flush()
        try:
            with contextlib.ExitStack() as ending:
                yield Run(directory, ending)
        finally:
            leftovers.clean(directory)
