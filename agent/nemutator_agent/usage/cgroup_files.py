"""Files of control groups, versions 1 and 2: which group a process is in, and what a group used."""

from dataclasses import dataclass

from nemutator_agent.usage.malformed import MalformedError, whole

_DEAD = b" (deleted)"
"""What version 2 appends to the path of a group that was removed while a zombie was in it."""


@dataclass(frozen=True, slots=True)
class Membership:
    """One line of /proc/PID/cgroup."""

    controllers: frozenset[str]
    """Of version 1: `cpu`, `cpuacct`, or `name=systemd`. Empty: the hierarchy of version 2."""
    path: bytes


def parse_memberships(content: bytes) -> tuple[Membership, ...]:
    found = []
    # A path may hold colons and carriage returns, but no newline: the kernel refuses such a name.
    for line in content.removesuffix(b"\n").split(b"\n"):
        number, _, rest = line.partition(b":")
        controllers, colon, path = rest.partition(b":")
        if not (number.isdigit() and colon and path.startswith(b"/")):
            raise MalformedError("/proc/PID/cgroup: expected number:controllers:path")
        names = controllers.decode("ascii", "replace").split(",") if controllers else ()
        found.append(Membership(frozenset(names), path.removesuffix(_DEAD)))
    return tuple(found)


def parse_single(content: bytes) -> int:
    """A file with one number: memory.current, cpuacct.usage."""
    return whole(content.strip(), "cgroup file")


def parse_keyed(content: bytes, key: bytes) -> int:
    """The number after *key* in a file of `key number` lines: cpu.stat, memory.stat."""
    # memory.stat has some fifty lines and is read for each group at each snapshot: finding one line
    # is faster than splitting all.
    line = key + b" "
    begin = len(line)
    if not content.startswith(line):
        position = content.find(b"\n" + line)
        if position < 0:
            raise MalformedError(f"cgroup file: expected a line {key.decode('ascii', 'replace')}")
        begin += position + 1
    end = content.find(b"\n", begin)
    return whole(content[begin : end if end >= 0 else None].strip(), "cgroup file")
