"""What the bytes of a review say, but for what is another one for each pod of a workload.

The API server writes reviews of such pods with the same bytes, but for the review's uid, the time at
which the pod's fields were written, and the name of the volume of its token. All of that is cut out at places that
cannot be anything else in a document that is read as a pod: a quote within a text of JSON has a backslash before it.
"""

import re
from typing import NamedTuple

LARGEST = 16 << 10
"""Bytes of a review that is known by its text."""

_BEGIN = re.compile(rb'\{[^{}]{1,120}"request": ?\{"uid": ?"([0-9a-f-]{36})"')
_TIME = re.compile(
    rb'"apiVersion": ?"[^"\\]{1,64}", ?"time": ?"([0-9]{4}-[0-9T:-]{14}Z)"'
    rb', ?"fieldsType": ?"FieldsV1", ?"fieldsV1": ?\{'
)
_MANAGED, _VERSION = b'"managedFields"', b'"apiVersion"'
_ACCESS = b"kube-api-access-"
_BEFORE_VOLUME = b'{"name":"', b'{"name": "'
_VOLUME = re.compile(
    rb'(kube-api-access-[a-z0-9]{5})", ?'
    rb'(?:"projected": ?\{|'
    rb'"readOnly": ?true, ?"mountPath": ?"/var/run/secrets/kubernetes\.io/serviceaccount"\})'
)
VOLUME_BYTES = len(_ACCESS) + 5
UID_BYTES, TIME_BYTES = 36, 20


class Places(NamedTuple):
    """Where what was cut out begins."""

    uid: int
    times: tuple[int, ...]
    volumes: tuple[int, ...]


class ReviewText(NamedTuple):
    key: bytes
    """What is left of the review. Another one with the same key is the same question about another pod."""
    uid: str
    """Of the review, as far as it is well-formed JSON."""
    places: Places | None = None
    """None: what is there says not enough to know another one with the same bytes around it."""


def text_of(body: bytes) -> ReviewText | None:
    """None: it is not written as API servers write."""
    if len(body) > LARGEST:
        return None
    begin = _BEGIN.match(body)
    if begin is None:
        return None
    times, volumes = [], []
    # Looked for by their first words: a pattern would be tried at each byte.
    at = body.find(_MANAGED, begin.end())
    if at >= 0:
        at = body.find(_VERSION, at)
    while at >= 0:
        found = _TIME.match(body, at)
        if found is not None:
            times.append(found.start(1))
        at = body.find(_VERSION, at + len(_VERSION))
    volume, elsewhere, end = b"", [], 0
    at = body.find(_ACCESS)
    while at >= 0:
        found = _VOLUME.match(body, at) if body.endswith(_BEFORE_VOLUME, end, at) else None
        if found is None:
            elsewhere.append(body[at : at + VOLUME_BYTES])
        else:
            volume = volume or found[1]
            if found[1] != volume:
                return None
            volumes.append(found.start(1))
            end = found.end()
        at = body.find(_ACCESS, at + len(_ACCESS))
    # A container's name may be policies' business: where it is that of the volume, nothing is cut out.
    if volume in elsewhere:
        return None
    places = Places(begin.start(1), tuple(times), tuple(volumes))
    # No document has this byte.
    key = b"\0".join(piece for _, piece in pieces_of(body, places))
    return ReviewText(key, begin[1].decode("ascii"), None if elsewhere else places)


def pieces_of(body: bytes, places: Places) -> list[tuple[int, bytes]]:
    """What is left of *body*, and where each piece of it begins."""
    cuts = [(places.uid, UID_BYTES)]
    cuts += ((at, TIME_BYTES) for at in places.times)
    cuts += ((at, VOLUME_BYTES) for at in places.volumes)
    cuts.sort()
    pieces, end = [], 0
    for first, size in cuts:
        pieces.append((end, body[end:first]))
        end = first + size
    pieces.append((end, body[end:]))
    return pieces
