"""Globs on names, as shells have them: `shop-*`, `[ab]?`."""

import functools
import re
from collections.abc import Callable, Iterable
from fnmatch import translate

MOST_KEPT = 4096
"""Globs that are kept compiled. Python's own fnmatch keeps 256 in some versions, and compiles others anew for
each pod."""


def fits(text: str, glob: str) -> bool:
    return glob == "*" or _match(glob)(text) is not None


def fits_any(text: str, globs: Iterable[str]) -> bool:
    """Whether *text* fits one of *globs*."""
    return any(glob == "*" or _match(glob)(text) is not None for glob in globs)


@functools.lru_cache(maxsize=MOST_KEPT)
def _match(glob: str) -> Callable[[str], object]:
    return re.compile(translate(glob)).match
