"""`python without_netlink.py PROGRAM ARGUMENT…` becomes a program that learns nothing of network interfaces.

Chromium gives up all of its requests whenever an address comes or goes (net::ERR_NETWORK_CHANGED), those to
loopback too, and each pod of the testbed brings addresses to this machine. No switch has it do otherwise;
where it gets no netlink socket, it takes the network for one that does not change.
"""

import ctypes
import errno
import os
import platform
import socket
import struct
import sys

SOCKET = {"x86_64": 41, "aarch64": 198}
"""The number of this call, by the name of the processor."""

# include/uapi/linux/prctl.h, seccomp.h and bpf_common.h; of struct seccomp_data the number and the first argument.
_SET_SECCOMP, _NO_NEW_PRIVILEGES, _FILTER = 22, 38, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _FAMILY = 0, 16
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EAFNOSUPPORT


def refuse_netlink(call: int) -> None:
    """To this process, and to all that it becomes and starts."""
    instructions = (
        (_LOAD, 0, 0, _NUMBER),
        (_EQUAL, 0, 3, call),
        (_LOAD, 0, 0, _FAMILY),
        (_EQUAL, 0, 1, socket.AF_NETLINK),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    )
    program = b"".join(struct.pack("=HBBI", *one) for one in instructions)
    start = ctypes.cast(ctypes.c_char_p(program), ctypes.c_void_p).value
    sized = struct.pack("@HP", len(instructions), start)
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value, more in ((_NO_NEW_PRIVILEGES, 1, None), (_SET_SECCOMP, _FILTER, sized)):
        if libc.prctl(option, ctypes.c_ulong(value), more, None, None) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    if (number := SOCKET.get(platform.machine())) is not None:
        refuse_netlink(number)
    os.execv(sys.argv[1], sys.argv[1:])
