"""Which names may be those of a unit that is sized. They become folders, and words of a command line."""

import re

LONGEST = 253
"""Characters: the folder of its drop-ins is called so with `.d` behind it, in a file system with NAME_MAX 255."""

KIND = ".service"

_CHARACTERS = re.compile(r"[A-Za-z0-9:_.\\@-]+")
"""Those of systemd (VALID_CHARS of unit-name.c); neither a slash nor a pattern of the shell's."""


def name_fault(name: str) -> str:
    """Why *name* names nothing that can be sized; empty: it may."""
    if len(name) > LONGEST:
        return f"{name[:40]}…: longer than {LONGEST} characters"
    if not name.endswith(KIND):
        return f"{name[:80]!r}: only services are sized, whose names end in {KIND}"
    stem = name.removesuffix(KIND)
    if not _CHARACTERS.fullmatch(name) or not stem.strip("."):
        return f"{name[:80]!r}: expected letters, digits and :_.\\@- as in names of systemd"
    before, at, instance = stem.partition("@")
    if at and not before:
        return f"{name[:80]!r}: expected the name of its template before the @"
    if at and not instance:
        return f"{name[:80]!r}: a template does not run: name one of its instances"
    return ""
