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
        if not SHORTEST <= len(key) <= LONGEST:
            raise ValueError(f"expected {SHORTEST} to {LONGEST} bytes of text")
        return Secret(key.decode("ascii"))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "expected ASCII text"
        if isinstance(error, ValueError) and not isinstance(error, UnicodeDecodeError):
            why = str(error)
        raise OperatorError(
            f"audit key: {path}: {why}",
            remedy="write 32 random bytes as hexadecimal digits to it (`openssl rand -hex 32`), the same "
            "for the brain and for every agent; or leave the setting audit_key_file out",
            code=ExitCode.SETTINGS,
        ) from None
