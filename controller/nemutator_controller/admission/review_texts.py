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
_MANAGED = b'"managedFields"'
_PREFIX = b'"kube-api-access-'
_VOLUME = re.compile(
    rb'\{"name": ?"(kube-api-access-[a-z0-9]{5})", ?'
    rb'(?:"projected": ?\{|'
    rb'"readOnly": ?true, ?"mountPath": ?"/var/run/secrets/kubernetes\.io/serviceaccount"\})'
)


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
    at = body.find(_MANAGED, begin.end())
    if at >= 0:
        cuts += (found.span(1) for found in _TIME.finditer(body, at))
    at = body.find(_PREFIX, begin.end())
    volume = b""
    if at >= 0:
        # A container's name may be policies' business: where it is that of the volume, nothing is cut out.
        for found in _VOLUME.finditer(body, max(0, at - len(b'{"name": '))):
            volume = volume or found[1]
            if found[1] != volume:
                return None
            cuts.append(found.span(1))
    cuts.sort()
    pieces, end = [], 0
    for first, last in cuts:
        pieces.append(body[end:first])
        end = last
    pieces.append(body[end:])
    # No document has this byte.
    key = b"\0".join(pieces)
    if volume and volume in key:
        return None
    return ReviewText(key, begin[1].decode("ascii"))
