"""Keeps what is in this process's memory out of core files, and away from others of the same user."""

import ctypes
import resource

_PR_SET_DUMPABLE = 4
"""include/uapi/linux/prctl.h"""


def forbid_core_dumps() -> None:
    """From now on the kernel writes no core of this process and of what it starts."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hide_memory()


def hide_memory() -> None:
    """The kernel writes no core of this process, and only root may trace it or read its memory. A program
    that it becomes is as any other: to it this does not pass on, as a limit would."""
    # A limit alone does not hold where cores go through a pipe (core(5)).
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
