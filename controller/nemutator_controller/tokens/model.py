"""What a token store holds, as far as it counts: keys that can be placeholders, and short texts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from nemutator_controller.mutations.known_tokens import KEY, LONGEST_KEY, LONGEST_VALUE

LeftOut = Literal["key", "value", "room"]

MOST = 100_000
MOST_BYTES = 16 << 20
"""Bytes of all tokens as they are sent to admission, which decodes them while pods wait."""


class TokenSourceError(Exception):
    """The store did not give or take tokens. `reason` is for the metric, the text for people."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class TokenTable:
    values: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[LeftOut, int] = field(default_factory=dict)
    """How many did not count, by reason: the key is none, the value is no short text, or there was no
    room for more."""


@dataclass(slots=True)
class TokenTableMaker:
    """Makes a table of what a store gives, without ever holding more than a table may."""

    _values: dict[str, str] = field(default_factory=dict)
    _left_out: Counter[LeftOut] = field(default_factory=Counter)
    _bytes: int = 0

    @property
    def is_full(self) -> bool:
        return bool(self._left_out["room"])

    def add(self, key: object, value: object) -> None:
        if not isinstance(key, str) or not is_key(key):
            self._left_out["key"] += 1
        elif not is_value(value):
            self._left_out["value"] += 1
        else:
            size = len(msgspec.json.encode((key, value)))
            if len(self._values) >= MOST or self._bytes + size > MOST_BYTES:
                self._left_out["room"] += 1
            elif key not in self._values:
                self._bytes += size
                self._values[key] = str(value)

    def table(self) -> TokenTable:
        left_out = {why: count for why, count in self._left_out.items() if count}
        return TokenTable(self._values, left_out)


def is_key(text: str) -> bool:
    return len(text) <= LONGEST_KEY and KEY.fullmatch(text) is not None


def is_value(value: object) -> bool:
    """Empty text is none: Redis gives it for a key that is not there."""
    if not isinstance(value, str):
        return False
    try:
        return 0 < len(value.encode()) <= LONGEST_VALUE
    except UnicodeEncodeError:
        return False


def table_of(document: object) -> TokenTable | None:
    """The tokens in a decoded map; None where it is something else."""
    if not isinstance(document, dict):
        return None
    maker = TokenTableMaker()
    for key, value in document.items():
        maker.add(key, value)
    return maker.table()
