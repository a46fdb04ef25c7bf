"""A secret, as its caller gets it."""

import json
from collections.abc import Callable, Mapping, MutableMapping
from typing import NamedTuple

import msgspec
from nemutator_common.declarations import Reference
from nemutator_common.secret import Secret

from nemutator_agent.credentials.http_refusals import no_variable, without_key
from nemutator_agent.credentials.vault.documents import Document

JSON = "application/json; charset=utf-8"
TEXT = "text/plain; charset=utf-8"

LONGEST_STRING = 128 << 10
"""Linux gives a program no longer string, name and zero byte included: MAX_ARG_STRLEN."""


class SecretResponse(NamedTuple):
    name: str
    read: Callable[[], Secret]
    """Makes the value when its turn comes: those that wait for theirs share what it is made of."""
    version: int | None
    is_whole: bool = False
    """Whether the value is a JSON object of all values at a path."""
    stale: bool = False

    @property
    def value(self) -> Secret:
        return self.read()


class ShownSecret(NamedTuple):
    body: bytes
    content_type: str
    marks: Mapping[str, str]
    """Headers that say of a bare value what JSON would say beside it."""


MOST_KEPT = 1 << 10
"""Bytes of an answer that is kept: all of a pod's 64 secrets in two forms are 128 KiB."""


class SecretAtHand(NamedTuple):
    """A secret that can be given at once."""

    name: str
    reference: Reference
    document: Document
    shown: MutableMapping[bool, ShownSecret]
    """What was shown of this document, raw or not; whoever keeps it lets go of it with the document."""
    record: Callable[[], None]
    """Writes down that it was given."""

    def show(self, *, raw: bool) -> ShownSecret:
        known = self.shown.get(raw)
        if known is None:
            known = shown(picked(self.name, self.reference, self.document), raw=raw)
            if len(known.body) <= MOST_KEPT:
                self.shown[raw] = known
        return known


def picked(
    name: str, reference: Reference, document: Document, *, stale: bool = False
) -> SecretResponse:
    """The part of *document* that *reference* names; an HttpRefusal when there is no such key."""
    key = reference.key
    value = None if key is None else document.value(key)
    if key is not None and value is None:
        raise without_key(reference, document.keys())
    return SecretResponse(
        name=name,
        read=lambda: document.content if value is None else value,
        version=document.version,
        is_whole=key is None,
        stale=stale,
    )


def shown(answer: SecretResponse, *, raw: bool) -> ShownSecret:
    value = answer.value.reveal()
    if raw:
        marks = {} if answer.version is None else {"X-Nemutator-Version": str(answer.version)}
        if answer.stale:
            marks["X-Nemutator-Stale"] = "true"
        return ShownSecret(as_bytes(value), TEXT, marks)
    document: dict[str, object] = {"name": answer.name}
    document |= {"data": _as_it_is(value)} if answer.is_whole else {"value": value}
    document["version"] = answer.version
    if answer.stale:
        document["stale"] = True
    return ShownSecret(as_json(document), JSON, {})


def as_bytes(value: str) -> bytes:
    """As files have it: JSON may hold half of a surrogate pair, for which UTF-8 has no bytes."""
    return value.encode("utf-8", "surrogatepass")


def as_json(document: Mapping[str, object]) -> bytes:
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        # JSON can escape what UTF-8 has no bytes for: half of a surrogate pair.
        return json.dumps(document).encode()


def _as_it_is(content: str) -> object:
    """JSON that is not read and written again, which would take the event loop's time."""
    try:
        return msgspec.Raw(content.encode())
    except UnicodeEncodeError:
        return json.loads(content)


def zero_separated(variables: Mapping[str, Secret]) -> bytes:
    """NAME=value, each with a zero byte behind it: what execve() takes, and C reads without a parser."""
    written = bytearray()
    for name, value in variables.items():
        one = as_bytes(f"{name}={value.reveal()}")
        if b"\0" in one:
            raise no_variable(name, "holds a zero byte, which ends a variable")
        if len(one) >= LONGEST_STRING:
            raise no_variable(name, f"is longer than the {LONGEST_STRING >> 10} KiB of a variable")
        written += one + b"\0"
    return bytes(written)
