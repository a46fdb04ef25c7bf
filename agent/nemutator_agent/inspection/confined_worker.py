"""A process without privileges that answers questions about open files, as its parent sees it.

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
from collections.abc import Callable
from typing import TypeVar

from nemutator_agent.inspection.failures import InvalidAnswerError, WorkerFailedError
from nemutator_agent.inspection.worker import FULL

T = TypeVar("T")

COMMAND = (sys.executable, "-I", "-m", "nemutator_agent.inspection.worker")
"""`-I`: neither the current directory nor the environment chooses what runs as root at first."""


class ConfinedWorker:
    """One process at a time, started when it is first needed and again after it failed. *responder*
    is the module of what it does."""

    def __init__(
        self,
        responder: str,
        *,
        answer_s: float,
        largest_answer: int,
        command: tuple[str, ...] = COMMAND,
    ) -> None:
        self._command = (*command, responder)
        self._answer_s = answer_s
        self._largest_answer = largest_answer
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None

    async def ask(self, question: bytes, file: int, decode: Callable[[bytes], T]) -> T:
        """What *decode* makes of the answer about an open *file*; WorkerFailedError. A worker that
        dies, hangs or answers what *decode* does not believe is ended."""
        try:
            connection = self._connected()
            async with asyncio.timeout(self._answer_s):
                # The socket is empty: one question at a time, and it is smaller than a message.
                socket.send_fds(connection, [question], [file])
                return decode(await self._received(connection))
        except TimeoutError:
            self.stop()
            raise WorkerFailedError("hung") from None
        except OSError as error:
            self.stop()
            raise WorkerFailedError("died") from error
        except InvalidAnswerError:
            self.stop()
            raise WorkerFailedError("nonsense") from None
        except BaseException:
            # A late answer to a cancelled question would be taken for the answer to the next.
            self.stop()
            raise

    def stop(self) -> None:
        """End the process, which has nothing to finish; the next question starts another one."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if connection is not None:
            connection.close()
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            process.wait()

    async def _received(self, connection: socket.socket) -> bytes:
        answer = bytearray()
        while len(answer) <= self._largest_answer:
            message = await asyncio.get_running_loop().sock_recv(connection, FULL)
            if not message:
                raise WorkerFailedError("died")
            answer += message
            if len(message) < FULL:
                return bytes(answer)
        raise InvalidAnswerError("the answer does not end")

    def _connected(self) -> socket.socket:
        if self._connection is not None:
            return self._connection
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
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
        self._connection = ours
        return ours
