"""perf_event_open(2): a clock on each CPU that ticks while the CPU is busy."""

import contextlib
import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.requirements import no_perf_events

_NUMBERS = {"x86_64": 298, "aarch64": 241}
_ATTRIBUTE_BYTES = 128
_SOFTWARE, _CPU_CLOCK = 1, 0
_DISABLED, _EXCLUDE_IDLE, _FREQUENCY = 1 << 0, 1 << 7, 1 << 10
_CLOSE_ON_EXEC = 8
_ENABLE, _DISABLE = 0x2400, 0x2401
_NONE = -1


def online_cpus(root: Path = Path("/")) -> tuple[int, ...]:
    """The CPUs that can be sampled now: `0-3,8`."""
    text = (root / "sys/devices/system/cpu/online").read_text()
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return tuple(cpus)


def open_clock(cpu: int, *, hz: int) -> int | None:
    """A clock that is not started yet, as an open file; None when the CPU is offline."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    attribute = ctypes.create_string_buffer(
        struct.pack(
            "=IIQQQQQ", _SOFTWARE, _ATTRIBUTE_BYTES, _CPU_CLOCK, hz, 0, 0,
            _DISABLED | _EXCLUDE_IDLE | _FREQUENCY,
        ),
        _ATTRIBUTE_BYTES,
    )  # fmt: skip
    file: int = libc.syscall(
        ctypes.c_long(_NUMBERS[os.uname().machine]),
        attribute, _NONE, cpu, _NONE, ctypes.c_ulong(_CLOSE_ON_EXEC),
    )  # fmt: skip
    if file >= 0:
        return file
    number = ctypes.get_errno()
    if number == errno.ENODEV:
        return None
    if number in (errno.EACCES, errno.EPERM):
        raise no_perf_events(_setting("paranoid"))
    most = _setting("max_sample_rate")  # the kernel lowers it when sampling costs it too much
    if number == errno.EINVAL and hz > most:
        raise ProfileRefused(
            "kernel",
            f"the kernel takes at most {most} samples a second (kernel.perf_event_max_sample_rate)",
            remedy=f"ask for at most {most} Hz",
        )
    raise OSError(number, "perf_event_open")


def _setting(name: str) -> int:
    return int(Path(f"/proc/sys/kernel/perf_event_{name}").read_text())


def start(clocks: Iterable[int]) -> None:
    for clock in clocks:
        fcntl.ioctl(clock, _ENABLE, 0)


def stop(clocks: Iterable[int]) -> None:
    """Stop the clocks. None ticks after the return."""
    for clock in clocks:
        with contextlib.suppress(OSError):
            fcntl.ioctl(clock, _DISABLE, 0)


def settle(clocks: Iterable[int]) -> None:
    """Return when no call of a clock's program is under way that began before this one."""
    for clock in clocks:
        # Each stands still for a moment only, and goes on where it was.
        stop((clock,))
        with contextlib.suppress(OSError):
            start((clock,))
