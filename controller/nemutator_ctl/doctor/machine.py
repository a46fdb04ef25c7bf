"""Reads what the doctor wants to know, from /proc, /sys and the file system of the data directory.

Nothing here raises for what a machine does not have: its absence is an answer too.
"""

import os
import resource
from pathlib import Path

from nemutator_agent.identity.peers import names_peers
from nemutator_agent.profiler import bcc

from nemutator_ctl.doctor import libbpf
from nemutator_ctl.doctor.facts import DoctorFacts, Space, Text, Unread

_LARGEST = 1 << 20
"""mountinfo of a node with many pods has some hundred KiB; nothing else here has more than a few."""


def read(data_dir: Path, root: Path = Path("/")) -> DoctorFacts:
    """The facts of this process and of the machine whose /proc and /sys are below *root*."""
    kernel = root / "proc/sys/kernel"
    release = _text(kernel / "osrelease")
    return DoctorFacts(
        user=os.geteuid(),
        kernel=os.uname().release if isinstance(release, Unread) else release.strip(),
        processor=os.uname().machine,
        pidfd=_pidfd(),
        peer_pidfd=names_peers(),
        btf=_begins(root / "sys/kernel/btf/vmlinux"),
        libbpf=libbpf.version(),
        bcc=bcc.is_installed(root),
        kernel_headers=bcc.has_headers(os.uname().release, root),
        status=_text(root / "proc/self/status"),
        uid_map=_text(root / "proc/self/uid_map"),
        mountinfo=_text(root / "proc/self/mountinfo"),
        controllers=_first(
            root / "sys/fs/cgroup/cgroup.controllers",
            root / "sys/fs/cgroup/unified/cgroup.controllers",
        ),
        pressure=_text(root / "proc/pressure/cpu"),
        swaps=_text(root / "proc/swaps"),
        pid_namespace=_inode(root / "proc/self/ns/pid"),
        perf_event_paranoid=_text(kernel / "perf_event_paranoid"),
        perf_event_max_sample_rate=_text(kernel / "perf_event_max_sample_rate"),
        kptr_restrict=_text(kernel / "kptr_restrict"),
        ptrace_scope=_text(kernel / "yama/ptrace_scope"),
        seccomp=_text(kernel / "seccomp/actions_avail"),
        lockdown=_text(root / "sys/kernel/security/lockdown"),
        open_files=_open_files(),
        space=_space(data_dir),
    )


def _bytes(path: Path, most: int) -> bytes | Unread:
    try:
        # Otherwise a pipe that somebody put there would make us wait for its other end.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            content = b""
            while len(content) < most and (part := os.read(fd, most - len(content))):
                content += part
        finally:
            os.close(fd)
    except OSError as error:
        return _unread(error)
    return content


def _text(path: Path) -> Text:
    content = _bytes(path, _LARGEST)
    return content if isinstance(content, Unread) else content.decode("utf-8", "replace")


def _inode(path: Path) -> int | Unread:
    try:
        return path.stat().st_ino
    except OSError as error:
        return _unread(error)


def _first(*paths: Path) -> Text:
    texts = [_text(path) for path in paths]
    return next((text for text in texts if isinstance(text, str)), texts[0])


def _begins(path: Path) -> bool | Unread:
    content = _bytes(path, 1)
    return content if isinstance(content, Unread) else bool(content)


def _unread(error: OSError) -> Unread:
    absent = isinstance(error, FileNotFoundError | NotADirectoryError)
    return Unread(error.strerror or str(error), absent=absent)


def _pidfd() -> bool | Unread:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as error:
        return _unread(error)
    return True


def _open_files() -> int | None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if hard == resource.RLIM_INFINITY else hard


def _space(path: Path) -> Space | Unread:
    try:
        there = path
        while not there.exists() and there != there.parent:
            there = there.parent
        numbers, status, user = os.statvfs(there), there.stat(), os.geteuid()
        writable = there.is_dir() and os.access(there, os.W_OK | os.X_OK, effective_ids=True)
        # `up` refuses a directory of somebody else, unless it runs as root.
        ours = there != path or status.st_uid == user or user == 0
        return Space(
            path=str(path),
            exists=there == path,
            usable=writable and ours,
            read_only=bool(numbers.f_flag & os.ST_RDONLY),
            free_bytes=numbers.f_bavail * numbers.f_frsize,
        )
    except (OSError, ValueError) as error:
        return _unread(error) if isinstance(error, OSError) else Unread(str(error))
