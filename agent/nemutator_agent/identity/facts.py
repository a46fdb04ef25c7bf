"""What the kernel shows of one process, read while the process certainly lived."""

from dataclasses import dataclass

from nemutator_agent.identity.failures import AttestationError

LONGEST_STAT = 4096
_STARTED = 22 - 3
"""proc_pid_stat(5): `starttime` is field 22, and field 3 is the first behind the name."""


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    cgroup: str
    """All of /proc/PID/cgroup."""
    started_ticks: int | None
    """When it was started, counted from the machine's start: no two processes share this and a pid. None
    where nobody has to know, because the kernel itself holds the process for us."""
    executable: str | None
    """Its path on this machine. None when this process may not read it, as an agent without ptrace
    should not, or when only the process itself can reach its program."""
    proven: bool = True
    """Whether this process certainly made the connection, and has not only its number since."""


def has_ended(stat: bytes) -> bool:
    """Whether a thread has ended, by its `stat`, and is only remembered."""
    return stat[stat.rfind(b")") + 1 :].split()[:1] in ([b"Z"], [b"X"], [b"x"])


def started_ticks(stat: bytes) -> int:
    """The start time in /proc/PID/stat, whose second field is a name of the process's own choice.

    The name may hold blanks and parentheses, so the other fields begin behind the last one.
    """
    name_end = stat.rfind(b")")
    fields = stat[name_end + 1 :].split()
    if name_end < 0 or len(stat) > LONGEST_STAT or len(fields) <= _STARTED:
        raise AttestationError("alive", "the process's start time cannot be read")
    if not fields[_STARTED].isdigit():
        raise AttestationError("alive", "the process's start time is not a number")
    return int(fields[_STARTED])
