"""The name of a function as its source has it. A name that cannot be read so stays as it is."""

from collections.abc import Callable

from nemutator_agent.profiler.symbols.demangled import itanium, rust
from nemutator_agent.profiler.symbols.demangled.cursor import (
    LONGEST_MANGLED,
    NotMangledError,
    Spend,
)

_FORMS: tuple[tuple[str, Callable[[str, Spend], str]], ...] = (
    ("_R", rust.v0),
    ("_ZN", rust.legacy),
    ("_Z", itanium.demangled),
)


def demangled(name: str, spend: Spend) -> str:
    """*spend* is asked before each step, and may raise to end the work."""
    if len(name) > LONGEST_MANGLED:
        return name
    for prefix, read in _FORMS:
        if name.startswith(prefix):
            try:
                return read(name, spend)
            except NotMangledError:
                continue
    return name
