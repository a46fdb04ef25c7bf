"""Where the files lie that the processes of one machine share.

`data_directory_files.py` makes the directory and reads it.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """Where everything of one `--data-dir` lies."""

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
        """What proves that a local caller may enter this directory: 0600, new at each `up`."""
        return self.root / "link-token"

    @property
    def objects(self) -> Path:
        """Manifests, where there is no cluster that would keep them."""
        return self.root / "objects"

    def socket(self, role: str) -> Path:
        return self.root / f"{role}.sock"
