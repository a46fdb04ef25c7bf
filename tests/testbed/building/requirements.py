"""Locked requirements: a few of many, with their hashes."""

import re
from collections.abc import Collection

# A name at the start of a line; its hashes and comments follow on lines that are indented.
REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)==.*\n(?:[ \t].*\n?)*", re.MULTILINE)


def only(lock: str, names: Collection[str]) -> str:
    """The entries of *names*; LookupError when the lock has no entry for one of them."""
    entries = {found[1]: found[0] for found in REQUIREMENT.finditer(lock)}
    if missing := sorted({*names} - entries.keys()):
        raise LookupError(f"the lock has no {', '.join(missing)}")
    return "".join(entries[name] for name in sorted(names))
