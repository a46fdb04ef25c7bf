"""What the kernel says of one process, read at one moment at which it certainly lived."""

from dataclasses import dataclass

from nemutator_agent.identity.failures import AttestationError

LONGEST_STAT = 4096
_STARTED = 22 - 3
"""proc_pid_stat(5): `starttime` is field 22, and field 3 is the first behind the name."""


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    cgroup: str
    """All of /proc/PID/cgroup."""
    started_ticks: int
    """Since the machine's start: with the pid, an identity that is not used twice."""
    executable: str | None
    """Its path on this machine. None when it may not be read, which is how it should be for an
    agent without ptrace, or when the program lies where only its own process can reach it."""


def started_ticks(stat: bytes) -> int:
    """The start time in /proc/PID/stat, whose second field is a name of the process's own choice.

    It may hold blanks and parentheses, so what counts begins behind the last one.
    """
    name_end = stat.rfind(b")")
    fields = stat[name_end + 1 :].split()
    if name_end < 0 or len(stat) > LONGEST_STAT or len(fields) <= _STARTED:
        raise AttestationError("alive", "the process's start time cannot be read")
    if not fields[_STARTED].isdigit():
        raise AttestationError("alive", "the process's start time is not a number")
    return int(fields[_STARTED])
