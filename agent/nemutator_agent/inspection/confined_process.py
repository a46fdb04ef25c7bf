"""A process without privileges that answers questions about open files, as its parent sees it.

It is started when it is first needed, and again after it failed. A question is one message with one
open file; an answer is one or more messages, of which all but the last are full.
"""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
from typing import Literal

FULL = 64 << 10
"""Bytes of a message that another one follows. Two of them fit in what a socket holds by default."""


class ConfinedFailureError(Exception):
    """It did not answer, and was ended."""

    def __init__(self, reason: Literal["died", "hung", "talked too much"]) -> None:
        super().__init__(reason)
        self.reason = reason


class ConfinedProcess:
    """*command* gets the number of its end of the socket as last argument."""

    def __init__(self, command: tuple[str, ...], *, answer_s: float) -> None:
        self._command = command
        self._answer_s = answer_s
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None

    async def ask(self, question: bytes, file: int, *, longest: int) -> bytes:
        """The answer, of at most *longest* bytes and a message. Raises ConfinedFailureError."""
        try:
            connection = self._connected()
            async with asyncio.timeout(self._answer_s):
                # The socket is empty: one question at a time, and it is smaller than a message.
                socket.send_fds(connection, [question], [file])
                return await self._received(connection, longest)
        except TimeoutError:
            self.stop()
            raise ConfinedFailureError("hung") from None
        except OSError as error:
            self.stop()
            raise ConfinedFailureError("died") from error
        except BaseException:
            # A late answer to a cancelled question would be taken for the answer to the next.
            self.stop()
            raise

    def stop(self) -> None:
        """End the process; it holds nothing worth a farewell."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if connection is not None:
            connection.close()
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            process.wait()

    async def _received(self, connection: socket.socket, longest: int) -> bytes:
        answer = bytearray()
        while len(answer) <= longest:
            message = await asyncio.get_running_loop().sock_recv(connection, FULL)
            if not message:
                raise ConfinedFailureError("died")
            answer += message
            if len(message) < FULL:
                return bytes(answer)
        raise ConfinedFailureError("talked too much")

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
