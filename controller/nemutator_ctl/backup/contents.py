"""What an archive of a data directory has, and whether a given one is one of ours.

Whoever hands an archive over may have written it for another purpose: names are matched against what we
write, sizes are those that its first file declares, and each content has the digest that stands there.
"""

import re
from collections.abc import Mapping
from typing import Annotated

import msgspec

FORM = 1
"""Of archives; another one is not read."""

ROOT = "nemutator-backup"
ABOUT = f"{ROOT}/about.json"
LARGEST_ABOUT = 4 << 20

DATABASE = "nemutator.db"
OBJECTS = "objects"

SECRETS, SECRETS_KEY = "secrets.json.enc", "secrets.key"
"""The key goes its own way: who finds a backup must not have the secrets."""

ALONE = (DATABASE, "tokens.json", SECRETS)
"""Files of a data directory that are backed up; of those that are there."""

_NAME = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
_OBJECT = re.compile(rf"{OBJECTS}/[A-Z][A-Za-z]{{0,62}}/(?:{_NAME}|_)/{_NAME}\.json")
MOST_FILES = 20_000

Size = Annotated[int, msgspec.Meta(ge=0, le=1 << 42)]


class BackupError(ValueError):
    """Why an archive is not taken."""


class BackedUpFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    size: Size
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first file of an archive."""

    form: int
    version: str
    at: float
    machine: str
    files: dict[str, BackedUpFile]


def is_ours(name: str) -> bool:
    """Whether *name*, relative to the data directory, is one that a backup may have."""
    return name in ALONE or (".." not in name and _OBJECT.fullmatch(name) is not None)


def encoded(about: About) -> bytes:
    return msgspec.json.format(msgspec.json.encode(about)) + b"\n"


def read_about(content: bytes, *, largest: int) -> About:
    """Raises BackupError."""
    try:
        form = msgspec.json.decode(content, type=dict[str, object]).get("form")
        if form != FORM:
            raise BackupError(f"it has form {form!r}, and this version reads {FORM}")
        about = msgspec.json.decode(content, type=About)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BackupError(f"its list of contents is damaged: {str(error)[:200]}") from None
    if len(about.files) > MOST_FILES:
        raise BackupError(f"it has more than {MOST_FILES} files")
    for name in about.files:
        if not is_ours(name):
            raise BackupError(f"it has a file that no backup has: {name[:80]!r}")
    if DATABASE not in about.files:
        raise BackupError("it has no database")
    if (total := sum(each.size for each in about.files.values())) > largest:
        raise BackupError(f"it unpacks to {total} bytes, more than the {largest} that may be")
    return about


def missing(about: About, seen: Mapping[str, object]) -> str:
    """A file that is declared and was not there; empty: none."""
    return next((name for name in about.files if name not in seen), "")
