"""A process without privileges that answers questions about open files: its parent's end.

A question is one message with one open file; an answer is one or more messages, of which all but
the last are full. `worker.py` is the other end.
"""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TypeVar

from nemutator_agent.inspection.failures import InvalidAnswerError, WorkerFailedError
from nemutator_agent.inspection.worker import FULL, UNCONFINED

T = TypeVar("T")

COMMAND = (sys.executable, "-I", "-m", "nemutator_agent.inspection.worker")
"""`-I`: neither the current directory nor the environment chooses what runs as root at first."""


_RENEWED_CPU_S = 120.0
"""A worker that has used so much is replaced before its next question: its whole life is limited."""

_SHORTEST_CHECK_S = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLimits:
    """What one answer may cost."""

    cpu_s: float
    """CPU time of the worker: on a machine that is slow or out of CPU, an answer comes late without
    having cost more."""
    wall_s: float
    """For a worker that waits, because a file system does not answer or the node nearly stands."""
    bytes: int


def process_cpu_s(pid: int) -> float:
    """CPU time of a process, as clock_getcpuclockid(3) finds its clock."""
    return time.clock_gettime((~pid << 3) | 2)


class ConfinedWorker:
    """One process at a time, started when it is first needed and again after it failed. *responder*
    names the module that answers in it."""

    def __init__(
        self,
        responder: str,
        limits: AnswerLimits,
        *,
        command: tuple[str, ...] = COMMAND,
        cpu_s_of: Callable[[int], float] = process_cpu_s,
    ) -> None:
        self._command = (*command, responder)
        self._limits = limits
        self._cpu_s_of = cpu_s_of
        self._running: tuple[subprocess.Popen[bytes], socket.socket] | None = None
        self.cpu_s = 0.0
        """CPU time of all answers so far."""

    async def ask(self, question: bytes, file: int, decode: Callable[[bytes], T]) -> T:
        """The answer about an open *file*, read by *decode*. Raises WorkerFailedError: a worker that
        dies, hangs, takes too much CPU time or gives an answer that *decode* refuses is ended, and one
        that cannot give up its rights has ended."""
        try:
            process, connection = self._connected()
            async with self._limited(process.pid):
                # The socket is empty: one question at a time, and it is smaller than a message.
                socket.send_fds(connection, [question], [file])
                return decode(await self._received(connection))
        except OSError as error:
            code = self._end()
            raise WorkerFailedError("unconfined" if code == UNCONFINED else "died") from error
        except InvalidAnswerError:
            self.stop()
            raise WorkerFailedError("invalid") from None
        except BaseException:
            # A late answer to a cancelled question would be taken for the answer to the next.
            self.stop()
            raise

    @contextlib.asynccontextmanager
    async def _limited(self, pid: int) -> AsyncIterator[None]:
        """Raises WorkerFailedError when the answer costs more than its limits."""
        loop = asyncio.get_running_loop()
        begun_s = self._cpu_s_of(pid)
        timer: asyncio.TimerHandle | None = None

        def check() -> None:
            nonlocal timer
            left_s = begun_s + self._limits.cpu_s - self._cpu_s_of(pid)
            if left_s > 0:
                # It has one thread, so it cannot use CPU time faster than time passes.
                timer = loop.call_later(max(left_s, _SHORTEST_CHECK_S), check)
            else:
                timer = None
                deadline.reschedule(loop.time())

        try:
            async with asyncio.timeout(self._limits.wall_s) as deadline:
                check()
                yield
        except TimeoutError:
            raise WorkerFailedError("slow" if timer is None else "hung") from None
        finally:
            if timer is not None:
                timer.cancel()
            self.cpu_s += self._cpu_s_of(pid) - begun_s

    def stop(self) -> None:
        """End the process, which has nothing to finish; the next question starts another one."""
        self._end()

    def _end(self) -> int | None:
        """The exit code of the process that was ended."""
        if self._running is None:
            return None
        (process, connection), self._running = self._running, None
        connection.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        return process.wait()

    async def _received(self, connection: socket.socket) -> bytes:
        answer = bytearray()
        while len(answer) <= self._limits.bytes:
            message = await asyncio.get_running_loop().sock_recv(connection, FULL)
            if not message:
                raise ConnectionResetError
            answer += message
            if len(message) < FULL:
                return bytes(answer)
        raise InvalidAnswerError("the answer does not end")

    def _connected(self) -> tuple["subprocess.Popen[bytes]", socket.socket]:
        if self._running is not None and self._cpu_s_of(self._running[0].pid) > _RENEWED_CPU_S:
            self.stop()
        if self._running is not None:
            return self._running
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                    (*self._command, str(theirs.fileno())),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    env={},
                )
            except OSError:
                ours.close()
                raise
        ours.setblocking(False)
        self._running = process, ours
        return self._running
