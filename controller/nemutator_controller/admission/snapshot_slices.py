"""The brain's large snapshots, decoded slice by slice: answers to the API server are given in between.

A decoder does not let others run before it is done: with a hundred thousand tokens nobody would be
answered for 50 ms.
"""

from collections.abc import Generator, Iterator
from typing import TypeVar

import msgspec
from nemutator_common.admission_snapshots import RecommendedContainer

from nemutator_controller.admission.snapshots import SnapshotAdvisor, decoded
from nemutator_controller.mutations.advisor import WorkloadRef
from nemutator_controller.mutations.known_tokens import NOT_READ, KnownTokens

T = TypeVar("T")

Slices = Generator[None, None, T]
"""Yields where others may go on, and returns what it has made."""

SLICE_BYTES = 1 << 16
SLICE_ITEMS = 200
"""A slice takes a few tenths of a millisecond."""

_BETWEEN = b'","'
_BEHIND_A_STRING = frozenset(b":,} \t\r\n")


class _Tokens(msgspec.Struct, frozen=True):
    source: str
    read: bool
    tokens: msgspec.Raw


class _Advice(msgspec.Struct, frozen=True):
    items: tuple[msgspec.Raw, ...]


def advisor_slices(document: bytes) -> Slices[SnapshotAdvisor]:
    """From the document at `ADVICE_PATH`; raises `SnapshotError`."""
    items = decoded(document, _Advice, "advice").items
    found: dict[tuple[WorkloadRef, str], RecommendedContainer] = {}
    for number, raw in enumerate(items, start=1):
        item = decoded(raw, RecommendedContainer, "advice")
        found[WorkloadRef(item.namespace, item.owner_kind, item.owner), item.container] = item
        if number % SLICE_ITEMS == 0:
            yield
    return SnapshotAdvisor(found)


def token_slices(document: bytes, *, slice_bytes: int = SLICE_BYTES) -> Slices[KnownTokens | None]:
    """From the document at `TOKENS_PATH`; raises `SnapshotError`. None: there is no token store."""
    snapshot = decoded(document, _Tokens, "tokens")
    values: dict[str, str] = {}
    for members in _some_members(bytes(snapshot.tokens), slice_bytes):
        yield
        values |= decoded(members, dict[str, str], "tokens")
    if not snapshot.source:
        return None
    return KnownTokens(values) if snapshot.read else KnownTokens({}, NOT_READ)


def _some_members(content: bytes, size: int) -> Iterator[bytes]:
    """The object *content*, whose values are text, as objects of some of its members each.

    It is cut between two strings. A quote behind a comma is no escaped one: it begins a string, or it
    ends the string that is a comma at its end, and then no other string's text follows.
    """
    begin, last = 1, len(content) - 1
    cut = content.find(_BETWEEN, begin + size, last)
    while cut >= 0:
        after = cut + len(_BETWEEN)
        if content[after] in _BEHIND_A_STRING:
            cut = content.find(_BETWEEN, cut + 1, last)
            continue
        yield b"{%b}" % content[begin : cut + 1]
        begin = cut + 2
        cut = content.find(_BETWEEN, begin + size, last)
    yield content[:1] + content[begin:last] + content[last:]
