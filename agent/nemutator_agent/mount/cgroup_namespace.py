"""Leaves a cgroup namespace of this process's own.

On version 2 Docker makes one even for privileged containers, where containerd and CRI-O do not. From
within, the path of kubelet's groups is not to be seen, and the credentials process needs it.
"""

import ctypes
import os

_OWN, _MACHINES = "/proc/self/ns/cgroup", "/proc/1/ns/cgroup"
_NEWCGROUP = 0x02000000

_libc = ctypes.CDLL(None, use_errno=True)


def join_the_machines() -> bool:
    """Take the namespace of process 1, for this thread and those that it starts; whether that is
    another one than before. Raises OSError."""
    namespace = os.open(_MACHINES, os.O_RDONLY)
    try:
        if os.path.samestat(os.fstat(namespace), os.stat(_OWN)):
            return False
        # os.setns comes with Python 3.12.
        if _libc.setns(namespace, _NEWCGROUP):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), _MACHINES)
        return True
    finally:
        os.close(namespace)
