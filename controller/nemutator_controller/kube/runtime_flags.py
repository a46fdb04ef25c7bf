"""The few words of a container's environment and command that say how much of a machine its language may take: pure.

All else of an environment is left where it is: it may hold secrets.
"""

import re
from collections.abc import Iterable, Iterator

VARIABLES = ("GOMEMLIMIT", "GOMAXPROCS")
"""Whose values count as a whole."""

OPTIONS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "_JAVA_OPTIONS", "CATALINA_OPTS")
"""Of Java, which hold several."""

_JAVA = re.compile(
    r"-Xmx[0-9]{1,15}[kKmMgGtT]?|-XX:MaxHeapSize=[0-9]{1,15}[kKmMgGtT]?"
    r"|-XX:MaxRAMPercentage=[0-9]{1,3}(?:\.[0-9]{1,6})?|-XX:ActiveProcessorCount=[0-9]{1,6}"
)
_PLAIN = re.compile(r"off|[0-9]{1,18}(?:B|KiB|MiB|GiB|TiB)?")

MOST = 8
LONGEST = 8_192
"""Characters of one text that are read."""


def runtime_flags(environment: Iterable[tuple[str, str]], words: Iterable[str]) -> tuple[str, ...]:
    """As `GOMEMLIMIT=2GiB` or `-Xmx512m`; of Java the last of each counts, and so it comes last here, too."""
    found: dict[str, None] = {}
    for flag in _all(environment, words):
        found.pop(flag, None)
        found[flag] = None
    return tuple(found)[-MOST:]


def _all(environment: Iterable[tuple[str, str]], words: Iterable[str]) -> Iterator[str]:
    for name, value in environment:
        if name in VARIABLES and _PLAIN.fullmatch(value):
            yield f"{name}={value}"
        elif name in OPTIONS:
            yield from _java(value)
    for word in words:
        # Also within `sh -c "exec java -Xmx1g …"`.
        yield from _java(word)


def _java(text: str) -> Iterator[str]:
    if "-X" in text:
        for word in text[:LONGEST].split():
            if _JAVA.fullmatch(word.strip("\"'")):
                yield word.strip("\"'")
