"""The key under which all processes of an installation write the digest of a path."""

from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

SHORTEST, LONGEST = 32, 256
"""Bytes of the file. Paths are easy to guess, so the key has to be hard to."""


def installation_key(path: str) -> Secret:
    """The key in this file; raises `OperatorError`."""
    try:
        with Path(path).open("rb") as file:
            key = file.read(LONGEST + 1).strip()
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from None
    if not (SHORTEST <= len(key) <= LONGEST and key.isascii()):
        raise _unusable(path, f"expected {SHORTEST} to {LONGEST} bytes of ASCII text")
    return Secret(key.decode())


def _unusable(path: str, why: str) -> OperatorError:
    return OperatorError(
        f"audit key: {path}: {why}",
        remedy="write 32 random bytes as hexadecimal digits to it (`openssl rand -hex 32`), the same "
        "for the brain and for every agent; or leave the setting audit_key_file out",
        code=ExitCode.SETTINGS,
    )
