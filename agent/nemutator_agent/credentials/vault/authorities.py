"""Whom Vault's certificate is checked with: the authorities of a file, read again once one of them is unknown."""

import ssl
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError


class Authorities:
    """One context for all connections, because each would cost up to 0.7 MiB and 80 ms.

    Raises an OperatorError where the file cannot be read at first.
    """

    def __init__(self, file: Path | None) -> None:
        """Without a *file*, those of the system."""
        self._file = file
        self._state = self._found_state()
        try:
            self.context = ssl.create_default_context(cafile=file)
        except (OSError, ValueError) as error:
            why = error.strerror or error if isinstance(error, OSError) else error
            raise OperatorError(
                f"certificate authority of Vault: {file}: {why}",
                remedy="name a readable file with PEM certificates in credentials.vault_ca_file",
                code=ExitCode.SETTINGS,
            ) from error

    def read_again(self) -> None:
        """A certificate was not accepted: where the file has changed, what it says now counts for the next call.
        One that cannot be read, as while it is being written, changes nothing."""
        state = self._found_state()
        if state == self._state:
            return
        try:
            self.context = ssl.create_default_context(cafile=self._file)
        except (OSError, ValueError):
            return
        self._state = state

    def _found_state(self) -> tuple[int, ...] | None:
        try:
            found = self._file.stat() if self._file is not None else None
        except OSError:
            return None
        return found and (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
