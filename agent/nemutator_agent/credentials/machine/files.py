"""The secrets of a machine without Vault, on its disk: sealed, and replaced as a whole."""

import asyncio
import secrets
from collections.abc import Mapping
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.files import no_space, replace_file
from nemutator_common.secret import Secret

from nemutator_agent.credentials.machine.seal import KEY_BYTES, NONCE_BYTES, SealError, seal, unseal
from nemutator_agent.credentials.machine.stored_secrets import StoredSecret, decode, encode

SECRETS = "secrets.json.enc"
KEY = "secrets.key"

LARGEST_FILE = 64 << 20
"""All secrets together are smaller."""


class SecretFiles:
    """`secrets.json.enc` in *folder*, and beside it the key, which a backup should not have."""

    def __init__(self, folder: Path) -> None:
        self._sealed = folder / SECRETS
        self._key_file = folder / KEY
        self._key = b""

    def load(self) -> dict[str, StoredSecret]:
        """The secrets that were saved; none at first. Raises an `OperatorError` for what it cannot read,
        and never begins anew instead."""
        try:
            sealed = _read(self._sealed, LARGEST_FILE)
            key = _read(self._key_file, KEY_BYTES)
            if sealed is not None and key is None:
                raise SealError(f"{self._key_file} is missing")
            if key is None:
                key = secrets.token_bytes(KEY_BYTES)
                replace_file(self._key_file, key, durable=True)
            if len(key) != KEY_BYTES:
                raise SealError(f"{self._key_file} is not a key")
            self._key = key
            return {} if sealed is None else decode(unseal(sealed, key=key))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise OperatorError(
                f"stored secrets: {self._sealed}: {why}",
                remedy=f"bring back {SECRETS} and {KEY} from the same backup, or remove both "
                "to begin without any secret",
                code=ExitCode.DATA_DIRECTORY,
            ) from error

    async def save(self, secrets: Mapping[str, StoredSecret]) -> None:
        # In a thread, because a disk may be slow to confirm. Once begun it is not given up, so that
        # a restart finds what callers were answered.
        await asyncio.shield(asyncio.to_thread(self._save, dict(secrets)))

    def _save(self, wanted: Mapping[str, StoredSecret]) -> None:
        try:
            nonce = secrets.token_bytes(NONCE_BYTES)
            sealed = seal(encode(wanted), key=self._key, nonce=nonce)
            replace_file(self._sealed, sealed, durable=True)
        except OSError as error:
            raise OperatorError(
                f"the secret was not stored: {self._sealed}: {error.strerror}",
                remedy=f"make room on the disk of {self._sealed.parent}, and see that it is writable",
                code=ExitCode.NO_SPACE if no_space(error) else ExitCode.DATA_DIRECTORY,
            ) from error


def digest_key(path: Path) -> Secret:
    """The key for digests, in audit records for example, which is made once so that they stay comparable."""
    try:
        found = _read(path, 256)
        if not found:
            found = secrets.token_urlsafe(KEY_BYTES).encode()
            replace_file(path, found, durable=True)
        return Secret(found.decode())
    except (OSError, ValueError) as error:
        raise OperatorError(
            f"key of digests: {path}: {error}",
            remedy=f"make {path.parent} writable for this user, or remove the file",
            code=ExitCode.DATA_DIRECTORY,
        ) from error


def _read(path: Path, most: int) -> bytes | None:
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except FileNotFoundError:
        return None
    if len(content) > most:
        raise ValueError(f"{path} is larger than {most} bytes")
    return content
