"""What the kernel's texts say. Whatever does not fit is None: never a guess, never an exception."""

import re
from dataclasses import dataclass

_INITIAL_NAMESPACE = (0, 0, 4294967295)
_NUMBER = re.compile(r"-?[0-9]{1,9}")
_RELEASE = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
_CAPABILITIES = re.compile(r"^CapEff:[ \t]*([0-9a-fA-F]{1,16})$", re.ASCII | re.MULTILINE)
_CHOSEN = re.compile(r"\[([a-z]{1,20})\]")


def number(text: str) -> int | None:
    return int(text.strip()) if _NUMBER.fullmatch(text.strip()) else None


def release(text: str) -> tuple[int, int] | None:
    """Major and minor of a kernel's release."""
    found = _RELEASE.match(text)
    return (int(found[1]), int(found[2])) if found else None


def capabilities(status: str) -> int | None:
    """The effective set of /proc/self/status, as bits."""
    found = _CAPABILITIES.search(status)
    return int(found[1], 16) if found else None


def in_initial_namespace(uid_map: str) -> bool:
    """Whether capabilities count for the machine, not just for a container's user namespace."""
    return tuple(map(_identity, uid_map.split())) == _INITIAL_NAMESPACE


def _identity(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else None


def chosen(lockdown: str) -> str | None:
    """The word in brackets."""
    found = _CHOSEN.search(lockdown)
    return found[1] if found else None


def swap_areas(swaps: str) -> int | None:
    """How many there are; None when this is not /proc/swaps."""
    head, *areas = swaps.splitlines() or [""]
    return len(list(filter(str.strip, areas))) if head.startswith("Filename") else None


@dataclass(frozen=True, slots=True)
class MountTable:
    unified: bool
    """Control groups of version 2 are mounted."""
    legacy: frozenset[str]
    """Mount options of version 1's hierarchies: their controllers are among them."""
    proc: bool
    hides_processes: bool
    """/proc shows an ordinary user only their own processes (proc(5), hidepid)."""


_HIDING = frozenset({"hidepid=2", "hidepid=invisible", "hidepid=4", "hidepid=ptraceable"})


def mounts(mountinfo: str) -> MountTable | None:
    """What the doctor needs of it; None when this is not /proc/self/mountinfo."""
    legacy: frozenset[str] = frozenset()
    unified = proc = hides = known = False
    for line in mountinfo.splitlines():
        _, dash, source = line.partition(" - ")
        kind, _, rest = source.partition(" ")
        options = frozenset(rest.rpartition(" ")[2].split(","))
        known |= bool(dash)
        if kind == "cgroup2":
            unified = True
        elif kind == "cgroup":
            legacy |= options
        elif kind == "proc":
            proc = True
            hides |= not _HIDING.isdisjoint(options)
    return MountTable(unified, legacy, proc, hides) if known else None
