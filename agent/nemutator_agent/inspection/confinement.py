"""Gives up for ever what a parser of hostile bytes does not need."""

import contextlib
import ctypes
import os
import resource
import signal

_NOBODY = 65534

# include/uapi/linux/prctl.h
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38

_LIMITS = {
    resource.RLIMIT_AS: 256 << 20,
    resource.RLIMIT_CPU: 300,  # Of a whole life; the parent limits each answer.
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_NOFILE: 16,
    resource.RLIMIT_NPROC: 0,
}


def confine() -> None:
    """Become user nobody when root, unable to gain rights, start a process or write a file."""
    os.chdir("/")
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in (
        (_PR_SET_NO_NEW_PRIVS, 1),
        (_PR_SET_DUMPABLE, 0),
        # After the change of user, which clears it. A closed socket ends us too, unless we hang.
        (_PR_SET_PDEATHSIG, signal.SIGKILL),
    ):
        if libc.prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
    for limit, value in _LIMITS.items():
        _, hard = resource.getrlimit(limit)
        lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(ValueError):
            resource.setrlimit(limit, (lowest, lowest))
