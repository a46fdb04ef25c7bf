"""What /proc says of a process, as far as signals are concerned."""

import re

_FIELD = re.compile(rb"^(SigCgt|SigBlk|Threads):\t([0-9a-f]+)$", re.MULTILINE)

_CONTAINER = re.compile(rb".*/pods/([0-9a-f-]{32,36})/containers/([a-z0-9-]{1,63})/[0-9a-f]{8}")
"""The file for a container's last words, which kubelet mounts into each of them."""


def handles(status: bytes, number: int) -> bool:
    """Whether the process with this /proc/PID/status has a handler for the signal, or waits for it as small
    init programs do: with one thread, which blocks it."""
    fields = {match[1]: match[2] for match in _FIELD.finditer(status)}
    caught, blocked = (
        int(fields.get(name, b"0"), 16) >> (number - 1) & 1 for name in (b"SigCgt", b"SigBlk")
    )
    return bool(caught or (blocked and fields.get(b"Threads") == b"1"))


def container_of(mounts: bytes, pod_uid: str) -> str | None:
    """The name of the container in whose mount namespace a process is, by its /proc/PID/mountinfo. A
    container that may mount can write others of its own pod there, and no other pod's."""
    for line in mounts.split(b"\n"):
        # Number, parent, device, and then the path within what is mounted.
        parts = line.split(b" ", 4)
        if len(parts) == 5:
            match = _CONTAINER.fullmatch(parts[3])
            if match is not None and match[1].decode() == pod_uid:
                return match[2].decode()
    return None
