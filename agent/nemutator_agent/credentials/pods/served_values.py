"""What pods were given last, for the next run of this process: a small file for each volume, with digests and no
value. It lies where the ledger does, in the node's memory."""

import logging
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import msgspec
from nemutator_common import names
from nemutator_common.files import replace_file
from nemutator_common.process import Process

from nemutator_agent.credentials.value_digests import ValueDigests

log = logging.getLogger(__name__)

FOLDER = "served"
LARGEST_FILE = 256 << 10
"""64 secrets with the longest references have half of it."""

Entries: TypeAlias = dict[str, dict[str, str]]
"""Digests by name and reference."""


@dataclass(eq=False, slots=True)
class ServedValuesFile:
    """A `RemembersServed`."""

    path: Path
    digests: ValueDigests
    process: Process
    _entries: Entries = field(init=False)

    def __post_init__(self) -> None:
        self._entries = self._read()

    def references(self) -> Collection[tuple[str, str]]:
        return [(name, ref) for name, digests in self._entries.items() for ref in digests]

    def is_same(self, name: str, reference: str, digest: bytes) -> bool | None:
        known = self._entries.get(name, {}).get(reference)
        return None if known is None else known == self._keyed(digest)

    def put(self, name: str, reference: str, digest: bytes) -> None:
        self._entries.setdefault(name, {})[reference] = self._keyed(digest)
        try:
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            replace_file(self.path, msgspec.json.encode(self._entries), durable=False)
        except OSError as error:
            self._failed(error.strerror or type(error).__name__)

    def _keyed(self, digest: bytes) -> str:
        return self.digests.of(digest).hex()

    def _read(self) -> Entries:
        try:
            with self.path.open("rb") as file:
                return msgspec.json.decode(file.read(LARGEST_FILE), type=Entries)
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            self._failed(type(error).__name__)
            return {}

    def _failed(self, why: str) -> None:
        """All that is lost is that a change goes unseen that happens while this process is away."""
        self.process.meter.count(names.LEDGER_FAILURES, reason="served")
        log.warning("served_values_not_kept", {names.ERROR: why})


@dataclass(frozen=True, slots=True)
class ServedValuesFolder:
    root: Path
    digests: ValueDigests
    process: Process

    def of(self, volume: str) -> ServedValuesFile:
        return ServedValuesFile(self._path(volume), self.digests, self.process)

    def forget(self, volume: str) -> None:
        """It has ended with its pod."""
        try:
            self._path(volume).unlink(missing_ok=True)
        except OSError as error:
            log.warning("served_values_left", {names.ERROR: error.strerror or ""})

    def _path(self, volume: str) -> Path:
        return self.root / FOLDER / f"{volume}.json"
