"""Starts real child processes; the port is in `child.py`.

On `subprocess` and a pidfd instead of asyncio's subprocesses: no loop of ours needs to watch for
children, and a process group of its own is not something that every loop offers.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.up.child import ChildProcess
from nemutator_ctl.up.command_lines import Command
from nemutator_ctl.up.restarts import Ended


class LocalProcesses:
    """Children whose standard input is their lifeline; *held_fds* stay open in them."""

    def __init__(self, *, held_fds: Sequence[int] = ()) -> None:
        self._held_fds = tuple(held_fds)

    def start(self, command: Command) -> ChildProcess:
        try:
            process = subprocess.Popen(  # noqa: S603 - our own programs
                command.argv,
                stdin=subprocess.PIPE,
                pass_fds=() if command.raised else self._held_fds,
                # Ctrl-C reaches our group alone, and we stop them in order. One that is raised
                # stays in our session: sudo remembers a password per terminal and session.
                start_new_session=not command.raised,
                process_group=0 if command.raised else None,
            )
        except OSError as error:
            raise OperatorError(
                f"cannot start {command.argv[0]}: {error.strerror}",
                remedy="install nemutator again, or make room for one more process",
                code=ExitCode.CHILD_DIED,
            ) from error
        return _LocalProcess(process)


class _LocalProcess:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> Ended | None:
        if self._process.returncode is None and _has_ended(self.pid):
            # What it started and left behind, as a build that was broken off. Before it is reaped:
            # until then the number is its group's and nobody else's.
            self.kill()
        code = self._process.poll()
        if code is None:
            return None
        self._let_go()
        return Ended(code)

    async def ended(self) -> Ended:
        # Nobody else reaps our child, so its pid cannot be anybody else's until poll() says so.
        while (ended := self.poll()) is None:
            await readable_at_end(self.pid)
        return ended

    def ask_to_stop(self) -> None:
        self._let_go()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> bool:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return True

    def _let_go(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()


def _has_ended(pid: int) -> bool:
    """Whether our child *pid* has ended; it is not reaped."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


async def readable_at_end(pid: int) -> None:
    """Wait for the end of our child *pid*, without reaping it: its pidfd is readable then."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    fd = os.pidfd_open(pid)
    loop.add_reader(fd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(fd)
        os.close(fd)
