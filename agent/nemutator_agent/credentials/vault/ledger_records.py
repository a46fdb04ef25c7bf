"""The records of the ledger about Vault tokens, so that a restart neither loses nor repeats one.

There is a `LoginIntent` before each login, a `LedgerToken` after it and before the token is used, a
`TokenRenewed` for each of its renewals, and a `TokenRevoked` when Vault has revoked it. All records of
a login have its number.
In a file, the length and the CRC-32 of each record stand before it: a torn or damaged end is noticed.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec
from nemutator_common.secret import Secret

from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.leases import HeldLease, Lease, hold, lasts_s

LARGEST = 16 << 10
"""Bytes of one record, which holds the names of a pod and a token."""

MOST_TOKENS = 2048
"""More than a node has volumes and waiting revocations together."""

MOST_INTENTS = 256
"""Logins that an outage left without an answer; a token of theirs ends by itself."""

_HEAD = struct.Struct(">II")


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


Record: TypeAlias = LoginIntent | LedgerToken | TokenRenewed | TokenRevoked


@dataclass(slots=True)
class LedgerEntries:
    """The entries that a row of records leads to, in the order of the logins."""

    intents: dict[int, LoginIntent] = field(default_factory=dict)
    """Logins for which it is not known whether Vault gave a token."""
    tokens: dict[int, LedgerToken] = field(default_factory=dict)
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
        return _shorten(self.intents, MOST_INTENTS) + _shorten(self.tokens, MOST_TOKENS)

    def knows(self, entry: int) -> bool:
        return entry in self.intents or entry in self.tokens

    def records(self) -> Iterator[Record]:
        """The shortest row of records that leads to these entries."""
        yield from self.tokens.values()
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


def encoded(record: Record) -> bytes:
    """The record with its length and its CRC-32; a ValueError when it is too large."""
    body = _ENCODER.encode(record)
    if len(body) > LARGEST:
        raise ValueError(f"a record of {len(body)} bytes")
    return _HEAD.pack(len(body), zlib.crc32(body)) + body


def all_encoded(records: Iterable[Record]) -> bytes:
    return b"".join(map(encoded, records))


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
            entries.apply(_DECODER.decode(body))
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
_DECODER: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record, dec_hook=_typed)
