"""Starting the worker, handing it files, and ending it when it does not answer as it should."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys

from nemutator_agent.inspection.executables import WorkerFailedError
from nemutator_agent.inspection.verdicts import LONGEST_ANSWER, NonsenseError, Verdict, decode

WORKER = (sys.executable, "-I", "-m", "nemutator_agent.inspection.worker")
"""`-I`: neither the current directory nor the environment chooses what runs as root at first."""


class WorkerProcess:
    """One worker at a time, started when it is first needed and again after it failed."""

    def __init__(self, *, command: tuple[str, ...] = WORKER, answer_s: float = 5.0) -> None:
        self._command = command
        self._answer_s = answer_s
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None

    async def examine(self, file: int) -> Verdict:
        """What the worker says of an open *file*; it is killed when it hangs or talks nonsense."""
        try:
            connection = self._connected()
            socket.send_fds(connection, [b"?"], [file])
            async with asyncio.timeout(self._answer_s):
                answer = await asyncio.get_running_loop().sock_recv(connection, LONGEST_ANSWER + 1)
            if not answer:
                raise WorkerFailedError("died")
            return decode(answer)
        except TimeoutError:
            self.stop()
            raise WorkerFailedError("hung") from None
        except NonsenseError:
            self.stop()
            raise WorkerFailedError("nonsense") from None
        except OSError as error:
            self.stop()
            raise WorkerFailedError("died") from error
        except BaseException:
            # A late answer to a cancelled question would be taken for the answer to the next.
            self.stop()
            raise

    def stop(self) -> None:
        """End the worker; it holds nothing worth a farewell."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if connection is not None:
            connection.close()
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            process.wait()

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
