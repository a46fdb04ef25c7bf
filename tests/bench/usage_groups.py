"""Pods for the bench `usage`: real control groups in every hierarchy of this machine, with processes.

Each pod has two containers and a network namespace of its own; each container is a process with some
threads that computes a little, again and again. All of it ends with the `with` block.
"""

import contextlib
import ctypes
import os
import secrets
import signal
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from tests.testbed.parts.node.cgroups import Hierarchy, hierarchies

THREADS = 4
_CLONE_NEWNET = 0x40000000


@contextlib.contextmanager
def pods(number: int) -> Iterator[list[int]]:
    """The pids of the processes of *number* pods."""
    top = f"nemutator-bench-{secrets.token_hex(4)}"
    mounts = list(hierarchies(Path("/proc/self/mountinfo").read_text()))
    made: list[Path] = []
    pids: list[int] = []
    try:
        for _ in range(number):
            path = f"{top}/kubepods/burstable/pod{uuid.uuid4()}"
            containers = [f"{path}/{secrets.token_hex(32)}" for _ in range(2)]
            for mount in mounts:
                for container in containers:
                    _make(mount, container, made)
            pids += _started(mounts, containers)
        yield pids
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        for folder in reversed(made):
            _remove(folder)


def _make(mount: Hierarchy, path: str, made: list[Path]) -> None:
    folder = mount.path
    for part in path.split("/"):
        above, folder = folder, folder / part
        if folder.exists():
            continue
        folder.mkdir()
        made.append(folder)
        if "cpuset" in mount.controllers:
            for name in ("cpuset.cpus", "cpuset.mems"):
                (folder / name).write_text((above / name).read_text())


def _remove(folder: Path) -> None:
    # A process that was killed may leave its group a moment after its exit was read.
    for _ in range(200):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.02)
        else:
            return
    sys.stderr.write(f"left behind: {folder}\n")


def _started(mounts: list[Hierarchy], containers: list[str]) -> list[int]:
    """One process in each container, all in one new network namespace."""
    pids = []
    namespace: str | None = None
    for container in containers:
        told, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            _run(mounts, container, namespace, tell)
        os.close(tell)
        os.read(told, 1)
        os.close(told)
        namespace = namespace or f"/proc/{pid}/ns/net"
        pids.append(pid)
    return pids


def _run(mounts: list[Hierarchy], container: str, namespace: str | None, tell: int) -> None:
    try:
        for mount in mounts:
            (mount.path / container / "cgroup.procs").write_text(str(os.getpid()))
        libc = ctypes.CDLL(None, use_errno=True)
        if namespace is None:
            libc.unshare(_CLONE_NEWNET)
        else:
            libc.setns(os.open(namespace, os.O_RDONLY), _CLONE_NEWNET)
        for _ in range(THREADS - 1):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        os.write(tell, b"x")
        while True:
            sum(range(2_000))
            time.sleep(2.0)
    finally:
        os._exit(1)
