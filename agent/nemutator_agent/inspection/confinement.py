"""Gives up for ever what a parser of hostile bytes does not need."""

import contextlib
import ctypes
import errno
import os
import resource
import signal

from nemutator_agent.inspection.landlock import deny_everything
from nemutator_agent.inspection.system_calls import worker_filter

FIRST_USER = 2_100_000_000
"""The first of 4 194 304 users and groups, one for each number that a process can have: two workers that
live at the same time are never the same user, and nobody else has one of these. They lie above the ids of
user namespaces and of directory services, and below the last ones that systemd and podman use."""

# include/uapi/linux/prctl.h
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38

_SECCOMP_MODE_FILTER = 2

_CAPABILITY_VERSION_3 = 0x20080522
"""include/uapi/linux/capability.h"""

_LIMITS = {
    resource.RLIMIT_AS: 256 << 20,
    resource.RLIMIT_CPU: 300,  # Of a whole life; the parent limits each answer.
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_NOFILE: 16,
    resource.RLIMIT_NPROC: 0,
}


class _Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def confine() -> None:
    """Become a user that nobody else is, when root; have no capability, no file, no network and no other
    process, and only the system calls of a worker. Raises OSError where the kernel does not do that."""
    libc = ctypes.CDLL(None, use_errno=True)
    os.chdir("/")
    if os.geteuid() == 0:
        _become(FIRST_USER + os.getpid())
    _drop_capabilities(libc)
    for option, value in (
        (_PR_SET_NO_NEW_PRIVS, 1),
        (_PR_SET_DUMPABLE, 0),
        # After the change of user, which clears it. A closed socket ends us too, unless we hang.
        (_PR_SET_PDEATHSIG, signal.SIGKILL),
    ):
        _prctl(libc, option, value)
    for limit, value in _LIMITS.items():
        _, hard = resource.getrlimit(limit)
        lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(ValueError):
            resource.setrlimit(limit, (lowest, lowest))
    deny_everything()
    _filter_system_calls(libc)


def _become(user: int) -> None:
    try:
        os.setresgid(user, user, user)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return  # The root of a user namespace without these ids: then as an ordinary user, who has no others.
    os.setgroups([])
    os.setresuid(user, user, user)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Those of a service that is not root stay over a change of program, and are no user's to lose."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if libc.capset(header, nothing) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _filter_system_calls(libc: ctypes.CDLL) -> None:
    program = worker_filter(os.uname().machine)
    if program is None:
        raise OSError(errno.ENOSYS, "the numbers of this processor's system calls are not known")
    sized = _Program(len(program) // 8, program)
    _prctl(libc, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(sized))


def _prctl(libc: ctypes.CDLL, option: int, value: int, more: object = None) -> None:
    if libc.prctl(option, ctypes.c_ulong(value), more, None, None) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
