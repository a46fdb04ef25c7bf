"""The keys for digests of paths, in a file that all processes of an installation have."""

from collections.abc import Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.path_digests import EXPECTED, LONGEST, MOST, keys_in
from nemutator_common.secret import Secret


def installation_keys(path: str) -> Sequence[Secret]:
    """The keys in this file; raises `OperatorError`."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(MOST * (LONGEST + 2) + 1)
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from None
    keys = keys_in(text)
    if keys is None:
        raise _unusable(path, EXPECTED)
    return keys


def _unusable(path: str, why: str) -> OperatorError:
    return OperatorError(
        f"audit key: {path}: {why}",
        remedy="write 32 random bytes as hexadecimal digits to it (`openssl rand -hex 32`), the same "
        "for the brain and for every agent; or leave the setting audit_key_file out",
        code=ExitCode.SETTINGS,
    )
