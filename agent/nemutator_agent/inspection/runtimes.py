"""The language runtime of a program, by its name and by the libraries that it is linked to."""

import re
from collections.abc import Iterable

from nemutator_common.wire import Runtime

from nemutator_agent.inspection.detected_runtime import UNKNOWN, DetectedRuntime, is_version

_NUMBER = r"([0-9]+(?:\.[0-9]+){0,3})"

_NAMES: tuple[tuple[Runtime, re.Pattern[str]], ...] = (
    ("python", re.compile(rf"(?:python|pypy){_NUMBER}?(?:-dbg|[dmtw])?")),
    ("java", re.compile(r"java|javaw")),
    ("node", re.compile(rf"(?:node|nodejs){_NUMBER}?")),
    ("ruby", re.compile(rf"ruby{_NUMBER}?")),
    ("php", re.compile(rf"php(?:-fpm|-cgi)?-?{_NUMBER}?")),
    ("dotnet", re.compile(r"dotnet")),
    ("perl", re.compile(rf"perl{_NUMBER}?")),
    ("shell", re.compile(r"(?:ba|da|z|k|mk|a|fi|tc|c)?sh|r?bash|zsh-[0-9.]+")),
)

# Libraries that hold a whole runtime: a program with another name that is linked to one embeds it.
_LIBRARIES: tuple[tuple[Runtime, re.Pattern[str]], ...] = (
    ("python", re.compile(rf"libpython{_NUMBER}[a-z]*\.so.*")),
    ("java", re.compile(r"libjvm\.so.*|libjli\.so.*")),
    ("node", re.compile(r"libnode\.so.*")),
    ("ruby", re.compile(rf"libruby-?{_NUMBER}?\.so.*")),
    ("perl", re.compile(rf"libperl\.so\.?{_NUMBER}?")),
)

# Where several versions live side by side, the directory says which: …/versions/node/v18.19.0/bin,
# /usr/lib/jvm/java-17-openjdk-amd64/bin, ~/.rbenv/versions/3.3.1/bin, …/jdk-21.0.2/bin.
_DIRECTORY = re.compile(
    rf"/(?:(?:v|jdk-?|java-|jre-?|ruby-|node-v|cpython-|php-?)?{_NUMBER}(?:[-+_][^/]*)?)/bin/[^/]+"
)

_DELETED = " (deleted)"
"""The kernel appends this when the file has been removed, as by an upgrade."""


def by_name(executable: str) -> DetectedRuntime:
    """The runtime that the path or name of an executable shows."""
    path = executable.removesuffix(_DELETED)
    name = path.rpartition("/")[2]
    for runtime, shape in _NAMES:
        if found := shape.fullmatch(name):
            number = found[1] if shape.groups else None
            if number is None and runtime != "shell" and (directory := _DIRECTORY.search(path)):
                number = directory[1]
            return DetectedRuntime(runtime, number if number and is_version(number) else None)
    return UNKNOWN


def by_libraries(libraries: Iterable[bytes]) -> DetectedRuntime:
    """The runtime that the libraries show, unless they show several, as those of an editor may."""
    found = [
        DetectedRuntime(runtime, match[1] if shape.groups else None)
        for library in libraries
        for runtime, shape in _LIBRARIES
        if (match := shape.fullmatch(library.decode("ascii", "replace")))
    ]
    return found[0] if len({detected.runtime for detected in found}) == 1 else UNKNOWN


def together(*, name: DetectedRuntime, content: DetectedRuntime) -> DetectedRuntime:
    """The content shows what a name hides; the name may show a version that no file holds."""
    if content.runtime is None:
        return name
    return name if name.runtime == content.runtime and name.version else content
