"""Starts real child processes, and asks them how they are; the ports are in `child.py`.

On `subprocess` and a pidfd instead of asyncio's subprocesses: no loop of ours needs to watch for
children, and a process group of its own is not something that every loop offers.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.terminal_text import visible
from nemutator_ctl.up.child import ChildProcess
from nemutator_ctl.up.command_lines import Command
from nemutator_ctl.up.restarts import Ended, Scheduling

ANSWER_S = 10.0
"""For an answer that takes a millisecond, on a machine that is very slow."""

LARGEST_ANSWER = 64 << 10


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

    def scheduling(self) -> Scheduling:
        # A raised one is sudo to us, and what sudo has started is not looked at.
        of = Path("/proc", str(self.pid))
        try:
            state = (of / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            # Of all threads: the one that answers may wait for another that waits for a processor.
            waited_ns = sum(int(one.read_text().split()[1]) for one in of.glob("task/*/schedstat"))
        except (OSError, IndexError):
            # It is ending; or the kernel does not count how long threads wait.
            return Scheduling("", 0.0)
        return Scheduling(state, waited_ns / 1e9)

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


@dataclass(frozen=True, slots=True)
class SocketHealth:
    """The health of the process that listens on *socket*."""

    socket: Path
    answer_s: float = ANSWER_S

    async def problem(self) -> str | None:
        status, text = await self._asked("/readyz")
        if status is None:
            return "it does not answer yet"
        return None if status == HTTPStatus.OK else visible("; ".join(text.splitlines()), limit=200)

    async def answers(self) -> bool:
        status, _ = await self._asked("/healthz")
        return status is not None

    async def _asked(self, path: str) -> tuple[int | None, str]:
        """Status and text of its answer; None without one.

        Not in a thread, as all other questions of the command line: a thread that waits for one
        who is silent would hold up our end.
        """
        with contextlib.suppress(OSError, TimeoutError, ValueError):
            async with asyncio.timeout(self.answer_s):
                return await self._exchange(path)
        return None, ""

    async def _exchange(self, path: str) -> tuple[int, str]:
        reader, writer = await asyncio.open_unix_connection(self.socket)
        try:
            request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            writer.write(request.encode())
            answer = b""
            while more := await reader.read(LARGEST_ANSWER - len(answer)):
                answer += more
        finally:
            writer.close()
        status, end, text = answer.removeprefix(b"HTTP/1.1 ").partition(b"\r\n\r\n")
        if not end:
            raise ValueError("an answer that was cut off, or is none")
        return int(status[:3]), text.decode(errors="replace")


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
