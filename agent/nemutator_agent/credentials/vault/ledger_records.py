"""The records of the ledger about Vault's tokens and leases, so that a restart neither loses nor
repeats one.

There is a `LoginIntent` before each login, a `LedgerToken` after it and before the token is used, a
`TokenRenewed` for each of its renewals, and a `TokenRevoked` when Vault has revoked it. All records of
a login have its number. A `LedgerLease` follows as soon as Vault has lent something for the token and
before the pod gets it, with a number of its own; `LeaseRenewed` and `LeaseEnded` are as for tokens.
Leases end with their token, so nothing is written of them then.

In a file, the length and the CRC-32 of each record stand before it: a torn or damaged end is noticed.
A `LedgerFormat` is the first; a file from before it was there has none, and no leases.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec
from nemutator_common.secret import Secret

from nemutator_agent.credentials.leases.leased_documents import RecoveredLease
from nemutator_agent.credentials.leases.states import LeaseHolding, granted
from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.documents import GivenLease
from nemutator_agent.credentials.vault.leases import HeldLease, Lease, hold, lasts_s

LARGEST = 16 << 10
"""Bytes of one record, which holds the names of a pod and a token."""

MOST_TOKENS = 2048
"""More than a node has volumes and waiting revocations together."""

MOST_LEASES = 8192
"""Of all tokens together. One that makes room is renewed until a restart, and ends with its token."""

MOST_INTENTS = 256
"""Logins that an outage left without an answer; a token of theirs ends by itself."""

_HEAD = struct.Struct(">II")

FORMAT = 2


class LedgerFormat(msgspec.Struct, frozen=True, tag="format", forbid_unknown_fields=True):
    """Of all records behind it: those of a later format are not read."""

    version: int = FORMAT


class LoginIntent(msgspec.Struct, frozen=True, tag="intent", forbid_unknown_fields=True):
    entry: int
    account: Account
    at: float
    """Wall time, like all times here, because the next run has another monotonic clock."""


class LedgerToken(msgspec.Struct, frozen=True, tag="token", forbid_unknown_fields=True):
    entry: int
    account: Account
    token: Secret
    expires_at: float
    ttl_s: float
    """For how long Vault gave it."""
    renewable: bool


class TokenRenewed(msgspec.Struct, frozen=True, tag="renewed", forbid_unknown_fields=True):
    entry: int
    expires_at: float
    ttl_s: float
    renewable: bool


class TokenRevoked(msgspec.Struct, frozen=True, tag="gone", forbid_unknown_fields=True):
    entry: int


class LedgerLease(msgspec.Struct, frozen=True, tag="lease", forbid_unknown_fields=True):
    entry: int
    token: int
    """The number of the token that it was read with, and ends with."""
    path: str
    lease: str
    """Vault's own name of it, which is no secret: with the token alone something can be done with it."""
    expires_at: float
    ttl_s: float
    """For how long Vault gave it first."""
    renewable: bool


class LeaseRenewed(msgspec.Struct, frozen=True, tag="lease renewed", forbid_unknown_fields=True):
    entry: int
    expires_at: float


class LeaseEnded(msgspec.Struct, frozen=True, tag="lease gone", forbid_unknown_fields=True):
    """It was revoked, or another one has taken its place, and nobody renews it."""

    entry: int


Record: TypeAlias = (
    LoginIntent
    | LedgerToken
    | TokenRenewed
    | TokenRevoked
    | LedgerLease
    | LeaseRenewed
    | LeaseEnded
)


@dataclass(slots=True)
class LedgerEntries:
    """The entries that a row of records leads to, in the order of the logins."""

    intents: dict[int, LoginIntent] = field(default_factory=dict)
    """Logins for which it is not known whether Vault gave a token."""
    tokens: dict[int, LedgerToken] = field(default_factory=dict)
    leases: dict[int, LedgerLease] = field(default_factory=dict)
    last: int = 0

    def apply(self, record: Record) -> int:
        """Apply *record*; returns how many older entries had to be forgotten for it."""
        self.last = max(self.last, record.entry)
        match record:
            case LoginIntent():
                self.intents[record.entry] = record
            case LedgerToken():
                self.intents.pop(record.entry, None)
                self.tokens[record.entry] = record
            case TokenRenewed(entry, expires_at, ttl_s, renewable):
                known = self.tokens.get(entry)
                if known is not None:
                    self.tokens[entry] = msgspec.structs.replace(
                        known, expires_at=expires_at, ttl_s=ttl_s, renewable=renewable
                    )
            case TokenRevoked(entry):
                self.intents.pop(entry, None)
                self.tokens.pop(entry, None)
                self._end_leases(entry)
            case LedgerLease():
                if record.token in self.tokens:
                    self.leases[record.entry] = record
            case LeaseRenewed(entry, expires_at):
                lease = self.leases.get(entry)
                if lease is not None:
                    self.leases[entry] = msgspec.structs.replace(lease, expires_at=expires_at)
            case LeaseEnded(entry):
                self.leases.pop(entry, None)
        return self._make_room()

    def _make_room(self) -> int:
        forgotten = _shorten(self.intents, MOST_INTENTS) + _shorten(self.leases, MOST_LEASES)
        if len(self.tokens) > MOST_TOKENS:
            self._end_leases(next(iter(self.tokens)))
        return forgotten + _shorten(self.tokens, MOST_TOKENS)

    def _end_leases(self, token: int) -> None:
        for entry in [entry for entry, lease in self.leases.items() if lease.token == token]:
            del self.leases[entry]

    def knows(self, entry: int) -> bool:
        return entry in self.intents or entry in self.tokens or entry in self.leases

    def records(self) -> Iterator[Record]:
        """The shortest row of records that leads to these entries."""
        yield from self.tokens.values()
        yield from self.leases.values()
        yield from self.intents.values()


def _shorten(entries: dict[int, Any], most: int) -> int:
    if len(entries) <= most:
        return 0
    entries.pop(next(iter(entries)))
    return 1


def token_of(account: Account, held: HeldLease, *, now: float, monotonic: float) -> LedgerToken:
    return LedgerToken(
        entry=held.entry,
        account=account,
        token=held.lease.token,
        expires_at=now + (held.ends - monotonic),
        ttl_s=held.lease.ttl_s,
        renewable=held.lease.renewable,
    )


def held_of(token: LedgerToken, *, now: float, monotonic: float, roll: float) -> HeldLease:
    """The lease of *token*, with its times by the clock of this run."""
    lease = Lease(token.token, token.ttl_s, token.renewable)
    # A wall clock that was put back does not make it last longer.
    left_s = min(token.expires_at - now, lasts_s(lease))
    return hold(lease, monotonic - (lasts_s(lease) - left_s), entry=token.entry, roll=roll)


def lease_of(
    entry: int, path: str, holding: LeaseHolding, token: int, *, now: float, monotonic: float
) -> LedgerLease:
    given = holding.given
    assert given is not None
    return LedgerLease(
        entry=entry,
        token=token,
        path=path,
        lease=given.id,
        expires_at=now + (holding.ends - monotonic),
        ttl_s=given.ttl_s,
        renewable=given.renewable,
    )


def recovered(lease: LedgerLease, *, now: float, monotonic: float, roll: float) -> RecoveredLease:
    """*lease*, with its times by the clock of this run."""
    left_s = min(lease.expires_at - now, lease.ttl_s)
    given = GivenLease(lease.lease, lease.ttl_s, lease.renewable)
    since = monotonic - (lease.ttl_s - left_s)
    holding = granted(LeaseHolding(), given, since, roll=roll)
    return RecoveredLease(lease.path, holding, lease.token, lease.entry)


def encoded(record: Record | LedgerFormat) -> bytes:
    """The record with its length and its CRC-32; a ValueError when it is too large."""
    body = _ENCODER.encode(record)
    if len(body) > LARGEST:
        raise ValueError(f"a record of {len(body)} bytes")
    return _HEAD.pack(len(body), zlib.crc32(body)) + body


def all_encoded(records: Iterable[Record]) -> bytes:
    return b"".join(map(encoded, (LedgerFormat(), *records)))


def read(content: bytes) -> tuple[LedgerEntries, int]:
    """The entries in *content*, and how many bytes at its end cannot be read."""
    entries, at = LedgerEntries(), 0
    while at + _HEAD.size <= len(content):
        length, checksum = _HEAD.unpack_from(content, at)
        end = at + _HEAD.size + length
        # No record is empty, but a crash can leave zeros in a file.
        if not 0 < length <= LARGEST or end > len(content):
            break
        body = content[at + _HEAD.size : end]
        if zlib.crc32(body) != checksum:
            break
        try:
            record = _DECODER.decode(body)
            if not isinstance(record, LedgerFormat):
                entries.apply(record)
            elif record.version > FORMAT:
                break
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            break
        at = end
    return entries, len(content) - at


def _plain(value: object) -> object:
    if isinstance(value, Secret):
        return value.reveal()
    raise TypeError(type(value).__name__)


def _typed(wanted: type, value: object) -> object:
    if wanted is Secret and isinstance(value, str):
        return Secret(value)
    raise TypeError(wanted.__name__)


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
_DECODER: msgspec.json.Decoder[Record | LedgerFormat] = msgspec.json.Decoder(
    Record | LedgerFormat, dec_hook=_typed
)
