"""The terminal that we were started on, and sudo, which asks there for a password.

This module is a `privileges.Terminal`.
"""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from nemutator_ctl.up.processes import readable_at_end


def is_interactive() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def sudo() -> str | None:
    """Where sudo is, if it is there."""
    return shutil.which("sudo")


async def ask(question: str, *, deadline_s: float) -> str | None:
    """The line that is typed; a thread that reads it could not be cancelled."""
    sys.stderr.write(question)
    sys.stderr.flush()
    loop = asyncio.get_running_loop()
    fd = sys.stdin.fileno()
    typed = asyncio.Event()
    loop.add_reader(fd, typed.set)
    try:
        async with asyncio.timeout(deadline_s):
            await typed.wait()
    except TimeoutError:
        sys.stderr.write("\n")
        return None
    finally:
        loop.remove_reader(fd)
    return os.read(fd, 4096).decode(errors="replace")


async def runs(argv: Sequence[str], *, deadline_s: float) -> bool:
    """Whether *argv* ends well, and in time."""
    # Starting is a moment, and the wait for its end does not block.
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)  # noqa: ASYNC220, S603
    try:
        async with asyncio.timeout(deadline_s):
            await readable_at_end(process.pid)
    except TimeoutError:
        return False
    finally:
        # Ctrl-C has reached it already; a signal of ours may not where it is root's.
        with contextlib.suppress(PermissionError):
            process.terminate()
        code = process.poll()
    return code == 0
