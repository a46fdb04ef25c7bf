"""The paths of the files that the processes of one machine share.

`data_directory_files.py` makes the directory and reads it.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """The paths of everything in one `--data-dir`."""

    root: Path

    @property
    def lock(self) -> Path:
        """Held by `nemutator up`, with its pid in it."""
        return self.root / "lock"

    @property
    def database(self) -> Path:
        return self.root / "nemutator.db"

    @property
    def link_token(self) -> Path:
        """The token that proves that a local caller may enter this directory.

        Its mode is 0600, and each `up` makes a new one.
        """
        return self.root / "link-token"

    @property
    def objects(self) -> Path:
        """Where manifests are stored when there is no cluster to store them."""
        return self.root / "objects"

    @property
    def tokens(self) -> Path:
        """Values of placeholders, when no other token store is named."""
        return self.root / "tokens.json"

    def socket(self, role: str) -> Path:
        return self.root / f"{role}.sock"
