"""`/proc/PID/stat`: one process in one line."""

from dataclasses import dataclass

from nemutator_agent.usage.malformed import MalformedError, whole

_WHAT = "/proc/PID/stat"
_PF_KTHREAD = 0x00200000
"""include/linux/sched.h. Kernel threads work for the machine and belong to no workload."""

# Positions after the command's closing bracket; proc_pid_stat(5) counts from 1 before it.
_STATE, _FLAGS, _UTIME, _STIME, _THREADS, _STARTED, _RESIDENT = 0, 6, 11, 12, 17, 19, 21


@dataclass(frozen=True, slots=True)
class ProcessStat:
    command: bytes
    state: str
    kernel_thread: bool
    cpu_ticks: int
    """User and system time of all its threads, with those that have ended."""
    threads: int
    started_ticks: int
    """Ticks since boot. With the pid they name one process and no later one."""
    resident_pages: int


def parse_process_stat(content: bytes) -> ProcessStat:
    """The command may hold anything, `) R 1` and newlines too; what follows it may not."""
    head, opened, rest = content.partition(b"(")
    command, closed, tail = rest.rpartition(b")")
    values = tail.split()
    if not (head and opened and closed) or len(values) <= _RESIDENT:
        raise MalformedError(f"{_WHAT}: expected 24 fields, the second in brackets")
    return ProcessStat(
        command=command,
        state=values[_STATE].decode("ascii", "replace"),
        kernel_thread=bool(whole(values[_FLAGS], _WHAT) & _PF_KTHREAD),
        cpu_ticks=whole(values[_UTIME], _WHAT) + whole(values[_STIME], _WHAT),
        threads=whole(values[_THREADS], _WHAT),
        started_ticks=whole(values[_STARTED], _WHAT),
        resident_pages=whole(values[_RESIDENT], _WHAT),
    )
