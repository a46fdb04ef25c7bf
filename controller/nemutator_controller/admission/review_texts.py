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
_VOLUME_BYTES = len(_ACCESS) + 5


class ReviewText(NamedTuple):
    key: bytes
    """What is left of the review. Another one with the same key is the same question about another pod."""
    uid: str
    """Of the review, as far as it is well-formed JSON."""


def text_of(body: bytes) -> ReviewText | None:
    """None: it is not written as API servers write."""
    if len(body) > LARGEST:
        return None
    begin = _BEGIN.match(body)
    if begin is None:
        return None
    cuts = [begin.span(1)]
    # Looked for by their first words: a pattern would be tried at each byte.
    at = body.find(_MANAGED, begin.end())
    if at >= 0:
        at = body.find(_VERSION, at)
    while at >= 0:
        found = _TIME.match(body, at)
        if found is not None:
            cuts.append(found.span(1))
        at = body.find(_VERSION, at + len(_VERSION))
    volume, elsewhere, end = b"", [], 0
    at = body.find(_ACCESS)
    while at >= 0:
        found = _VOLUME.match(body, at) if body.endswith(_BEFORE_VOLUME, end, at) else None
        if found is None:
            elsewhere.append(body[at : at + _VOLUME_BYTES])
        else:
            volume = volume or found[1]
            if found[1] != volume:
                return None
            cuts.append(found.span(1))
            end = found.end()
        at = body.find(_ACCESS, at + len(_ACCESS))
    # A container's name may be policies' business: where it is that of the volume, nothing is cut out.
    if volume in elsewhere:
        return None
    cuts.sort()
    pieces, end = [], 0
    for first, last in cuts:
        pieces.append(body[end:first])
        end = last
    pieces.append(body[end:])
    # No document has this byte.
    return ReviewText(b"\0".join(pieces), begin[1].decode("ascii"))
