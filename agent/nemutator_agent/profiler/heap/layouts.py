"""How Go's runtime keeps its heap profile, by its version (runtime/mprof.go)."""

import re
from dataclasses import dataclass

OLDEST = (1, 18)
_VERSION = re.compile(r"go1\.(\d{1,3})(?![0-9])")


@dataclass(frozen=True, slots=True)
class Layout:
    cycle_words: int
    """The words of each cycle of a site: objects allocated and freed, and until Go 1.26 their bytes."""
    flag_bits: int
    """The bits below the number of the cycle: since Go 1.19 one says whether it is published."""

    @property
    def words(self) -> int:
        """Of the published cycle and three that are yet to be."""
        return 4 * self.cycle_words


class UnknownLayoutError(Exception):
    """The message names the version."""


def layout_of(version: str) -> Layout:
    """The layout of a version as programs carry it: `go1.26.8`. Raises UnknownLayoutError."""
    found = _VERSION.match(version)
    if found is None:
        raise UnknownLayoutError(f"{version[:40]!r} is no release of Go")
    minor = int(found[1])
    if (1, minor) < OLDEST:
        raise UnknownLayoutError(f"Go 1.{minor} is older than 1.18")
    return Layout(cycle_words=4 if minor < 27 else 2, flag_bits=0 if minor < 19 else 1)
