"""Where the symbols of a stripped file are, as distributions put them: in a file beside it, or under /usr/lib/debug.

The names are a stranger's. What they lead to is opened within the root of the process alone, and believed
only where it has the same build id.
"""

import posixpath

from nemutator_agent.profiler.symbols.image import Image

LONGEST_LINK = 255
"""As long as a name of a file may be."""

_SECTION = b".gnu_debuglink"
_ROOT = "/usr/lib/debug"
_DIRECTORY_DIGITS = 2


def link(image: Image) -> str:
    """The name of the debug file that `objcopy --add-gnu-debuglink` has left; empty when there is none."""
    section = image.elf.section(_SECTION)
    if section is None:
        return ""
    raw, end, _ = image.read(section.offset, min(section.size, LONGEST_LINK + 1)).partition(b"\0")
    name = raw.decode("utf-8", "replace")
    return name if end and is_link(name) else ""


def is_link(name: str) -> bool:
    return (
        len(name) <= LONGEST_LINK
        and name.isprintable()
        and "/" not in name
        and name not in (".", "..")
    )


def paths(file: str, *, build_id: str, name: str) -> tuple[str, ...]:
    """Where the debug file of *file* may be, the surest place first; *name* is its link, or empty."""
    digits = build_id[:_DIRECTORY_DIGITS], build_id[_DIRECTORY_DIGITS:]
    found = [f"{_ROOT}/.build-id/{digits[0]}/{digits[1]}.debug"] if all(digits) else []
    if name and file.startswith("/"):
        directory = posixpath.dirname(file)
        for place in (directory, f"{directory}/.debug", _ROOT + directory):
            path = posixpath.join(place, name)
            if path != file:
                found.append(path)
    return tuple(found)
