"""The ledger in one file: Vault's tokens and leases that are alive, for the next run of this process.

It holds Vault tokens and the names of leases, never a pod's own token and never a secret's value. It
is not synced to a disk: it has to outlive this process only, and its directory is in the node's memory.
"""

import errno
import logging
import os
from dataclasses import dataclass, field
from pathlib import Path

from nemutator_common import names
from nemutator_common.files import replace_file
from nemutator_common.process import Process

from nemutator_agent.credentials.leases.states import LeaseHolding
from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.leases import HeldLease
from nemutator_agent.credentials.vault.ledger_records import (
    LeaseEnded,
    LeaseRenewed,
    LedgerEntries,
    LedgerLease,
    LedgerToken,
    LoginIntent,
    Record,
    TokenRenewed,
    TokenRevoked,
    all_encoded,
    encoded,
    lease_of,
    read,
    token_of,
)

log = logging.getLogger(__name__)

NAME = "ledger"
PART = "ledger"
"""The name of the ledger in `/readyz`."""

LARGEST_FILE = 64 << 20
"""A larger file is not ours: `MOST_TOKENS` records of the largest size are half of this."""

COMPACT_BYTES = 256 << 10
"""A file is written anew when it has grown to this, and to twice the size of its living entries."""


@dataclass(eq=False, slots=True)
class LedgerFile:
    """Fulfils the port `Ledger`. No method raises: secrets are given also without a ledger, and all that
    is lost is that a token may live until its own end."""

    folder: Path
    process: Process
    _failing: bool = field(default=False, init=False)
    _file: int | None = field(default=None, init=False)
    _size: int = field(default=0, init=False)
    _compact_at: int = field(default=0, init=False)
    _entries: LedgerEntries = field(init=False)
    unfinished: tuple[LoginIntent, ...] = field(init=False)
    """Logins of the last run that may have left an unknown token. They are logged once, because the next
    run can add nothing."""
    left: tuple[LedgerToken, ...] = field(init=False)
    """Tokens of the last run."""
    left_leases: tuple[LedgerLease, ...] = field(init=False)
    """Leases of the last run, each with one of those tokens."""

    def __post_init__(self) -> None:
        self._entries = self._load()
        self.unfinished = tuple(self._entries.intents.values())
        self._entries.intents.clear()
        self.left = tuple(self._entries.tokens.values())
        self.left_leases = tuple(self._entries.leases.values())
        self._save(b"")

    @property
    def _path(self) -> Path:
        return self.folder / NAME

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    # --- the port -------------------------------------------------------------------------------
    def intend(self, account: Account) -> int:
        entry = self._entries.last + 1
        self._write(LoginIntent(entry, account, self.process.clock.now()))
        return entry

    def save(self, account: Account, held: HeldLease) -> None:
        now, monotonic = self.process.clock.now(), self.process.clock.monotonic()
        self._write(token_of(account, held, now=now, monotonic=monotonic))

    def renew(self, held: HeldLease) -> None:
        if not self._entries.knows(held.entry):
            return
        expires_at = self.process.clock.now() + (held.ends - self.process.clock.monotonic())
        self._write(TokenRenewed(held.entry, expires_at, held.lease.ttl_s, held.lease.renewable))

    def end(self, entry: int) -> None:
        if self._entries.knows(entry):
            self._write(TokenRevoked(entry))

    def lend(self, path: str, holding: LeaseHolding, token: int) -> int:
        if not self._entries.knows(token):
            return 0
        entry = self._entries.last + 1
        now, monotonic = self.process.clock.now(), self.process.clock.monotonic()
        self._write(lease_of(entry, path, holding, token, now=now, monotonic=monotonic))
        return entry

    def renew_lease(self, entry: int, holding: LeaseHolding) -> None:
        if self._entries.knows(entry):
            left_s = holding.ends - self.process.clock.monotonic()
            self._write(LeaseRenewed(entry, self.process.clock.now() + left_s))

    def end_lease(self, entry: int) -> None:
        if self._entries.knows(entry):
            self._write(LeaseEnded(entry))

    # --- the file -------------------------------------------------------------------------------
    def _load(self) -> LedgerEntries:
        try:
            with self._path.open("rb") as file:
                content = file.read(LARGEST_FILE)
        except FileNotFoundError:
            return LedgerEntries()
        except OSError as error:
            self._failed("unreadable", error)
            return LedgerEntries()
        entries, damaged = read(content)
        if damaged:
            self.process.meter.count(names.LEDGER_FAILURES, reason="damaged")
            log.warning("ledger_damaged", {names.BYTES: damaged})
        return entries

    def _write(self, record: Record) -> None:
        try:
            added = encoded(record)
        except ValueError:
            self.process.meter.count(names.LEDGER_FAILURES, reason="too_large")
            return
        if forgotten := self._entries.apply(record):
            self.process.meter.count(names.LEDGER_FAILURES, forgotten, reason="full")
        self._save(added)

    def _save(self, added: bytes) -> None:
        """Append *added*, or write all anew where that is due or nothing can be appended."""
        try:
            if self._file is None or self._size >= self._compact_at:
                self._replace(all_encoded(self._entries.records()))
            else:
                self._append(self._file, added)
        except OSError as error:
            # Half a record may be there, which would hide what is appended after it.
            self.close()
            self._failed("write", error)
            return
        if self._failing:
            self._failing = False
            self.process.readiness.pass_(PART)
            log.info("ledger_written_again")

    def _append(self, file: int, content: bytes) -> None:
        if os.write(file, content) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += len(content)

    def _replace(self, content: bytes) -> None:
        self.close()
        # It is in the node's memory, so there is no disk to wait for.
        replace_file(self._path, content, durable=False)
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._size = len(content)
        self._compact_at = max(COMPACT_BYTES, 2 * self._size)

    def _failed(self, reason: str, error: OSError) -> None:
        self.process.meter.count(names.LEDGER_FAILURES, reason=reason)
        if self._failing:
            return
        self._failing = True
        why = error.strerror or type(error).__name__
        self.process.readiness.fail(
            PART, f"{self._path}: {why}; after a restart, Vault tokens live until their own end"
        )
        log.error("ledger_not_saved", {names.REASON: reason, names.ERROR: why})
