"""/proc/PID/cgroup: one line for each hierarchy, `number:controllers:path`.

Paths consist of names that anybody may have chosen: they may hold colons, blanks, and words that look
like a pod's. Nothing is concluded from them here.
"""

from dataclasses import dataclass

from nemutator_agent.identity.failures import AttestationError

LONGEST_TEXT = 64 << 10
"""A path has at most 4096 bytes, and no kernel has more than some twenty hierarchies."""

UNIFIED = ""
"""The name of the hierarchy of version 2, whose line lists no controllers."""

_GONE = " (deleted)"


@dataclass(frozen=True, slots=True)
class CgroupLine:
    controllers: frozenset[str]
    """Those of version 1, or `name=…`; empty for version 2."""
    path: str

    def is_of(self, hierarchy: str) -> bool:
        return hierarchy in self.controllers if hierarchy else not self.controllers


def parse_lines(text: str) -> tuple[CgroupLine, ...]:
    """The lines in their order, or an AttestationError: a text that the kernel would not write proves
    nothing."""
    if len(text) > LONGEST_TEXT:
        raise AttestationError("cgroup", f"its control groups take more than {LONGEST_TEXT} bytes")
    # Not splitlines(): names may hold the other characters that end a line in Unicode.
    lines = tuple(_line(line) for line in text.removesuffix("\n").split("\n"))
    named = [name for line in lines for name in line.controllers or (UNIFIED,)]
    if len(named) != len(set(named)):
        raise AttestationError("cgroup", "a hierarchy is listed twice")
    return lines


def line_of(lines: tuple[CgroupLine, ...], hierarchy: str) -> CgroupLine | None:
    return next((line for line in lines if line.is_of(hierarchy)), None)


def _line(text: str) -> CgroupLine:
    number, controllers, path = (*text.split(":", 2), "", "")[:3]
    if not (number.isascii() and number.isdigit()) or not path.startswith("/") or "\0" in path:
        raise AttestationError("cgroup", f"not a line of /proc/PID/cgroup: {text[:100]!r}")
    if path.endswith(_GONE):
        raise AttestationError("cgroup", "its control group was removed")
    names = frozenset(controllers.split(",")) if controllers else frozenset[str]()
    # Version 2 alone has the number 0, and nothing else has no name.
    if (int(number) == 0) != (not names) or "" in names:
        raise AttestationError("cgroup", f"not a line of /proc/PID/cgroup: {text[:100]!r}")
    return CgroupLine(names, path)
