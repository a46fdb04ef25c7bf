"""The person at the terminal, and sudo, who asks them for a password."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from nemutator_ctl.up.local_processes import readable_at_end


def at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def sudo() -> str | None:
    """Where sudo is, if it is."""
    return shutil.which("sudo")


async def asked(question: str) -> str:
    """The line that they type; cancelling gives up the wait, which a thread could not."""
    sys.stderr.write(question)
    sys.stderr.flush()
    loop = asyncio.get_running_loop()
    fd = sys.stdin.fileno()
    typed = asyncio.Event()
    loop.add_reader(fd, typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(fd)
    return os.read(fd, 4096).decode(errors="replace")


async def sudo_grants(path: str, program: Sequence[str]) -> bool:
    """Whether sudo lets this user run *program*; in the foreground, so that it can ask.

    It is asked a second time without a terminal: that is how the program will be started, and
    where sudo is set to forget passwords at once it would be refused.
    """
    return await _runs((path, "--", *program, "--version")) and await _runs(
        (path, "-n", "--", *program, "--version")
    )


async def _runs(argv: Sequence[str]) -> bool:
    # Starting is a moment; the wait for its end does not block.
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as process:  # noqa: ASYNC220, S603
        try:
            await readable_at_end(process.pid)
        except asyncio.CancelledError:
            # Ctrl-C has reached it already, and a signal of ours may not.
            with contextlib.suppress(PermissionError):
                process.terminate()
            raise
    return process.returncode == 0
