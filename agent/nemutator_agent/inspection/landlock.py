"""Landlock (Linux 5.13): a process without rights denies itself all files and, later, sockets and signals.

It stands behind the filter of system calls, and knows what a path leads to where a filter sees numbers.
"""

import ctypes
import os
import struct

_CREATE_RULESET, _RESTRICT_SELF = 444, 446
"""The same numbers on all processors."""

_SHOW_VERSION = 1


def deny_everything() -> None:
    """No file is opened, changed or run from now on, no TCP port bound or reached, no process outside
    signalled: as far as this kernel knows Landlock. Needs no_new_privs."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _SHOW_VERSION)
    if version < 1:  # older, built without it, or hidden by the filter of a container
        return
    attribute = denied(version)
    ruleset = libc.syscall(_CREATE_RULESET, attribute, ctypes.c_size_t(len(attribute)), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    try:
        if libc.syscall(_RESTRICT_SELF, ruleset, 0) != 0:
            raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    finally:
        os.close(ruleset)


def denied(version: int) -> bytes:
    """Everything that a kernel with this version of Landlock can deny: struct landlock_ruleset_attr
    (include/uapi/linux/landlock.h)."""
    # Thirteen rights of files; moving between folders, truncating and, since 5, calls to devices.
    files = (1 << 13) - 1 | (version >= 2) << 13 | (version >= 3) << 14 | (version >= 5) << 15
    ports = 0b11 if version >= 4 else 0
    outside = 0b11 if version >= 6 else 0  # abstract unix sockets, and signals
    return struct.pack("=QQQ", files, ports, outside)
