"""The bytes of a record and of an answer, made once for all pods that get the same edits.

They are split at marks that stand for what differs. Where a mark is not found exactly where it is expected, as in
a pod that has such a text itself, there is no template.
"""

import re
from base64 import b64encode
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import msgspec

from nemutator_controller.admission.known_plans import KnownPlan
from nemutator_controller.admission.reviews import AdmissionResponse, encode
from nemutator_controller.kube.patch_texts import patch_text
from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.mutations.stamps import Stamp, in_full

ID, UID, CALLER = "~decision's id~~", "~review's uid~", "~caller~"
"""Marks. An id is at most as long as its own, so that a stamp that has room for it has room for each."""

_PLAIN = re.compile(r"[0-9A-Za-z.:%_-]*")
"""Texts that are written in JSON as they are."""


class EncodedAround(NamedTuple):
    """Base64 around a text that is as long as `ID`. Three bytes make four characters: those that share them with the text are
    not encoded yet."""

    before: bytes
    left: bytes
    right: bytes
    behind: bytes

    def with_(self, text: bytes) -> bytes:
        return self.before + b64encode(self.left + text + self.right) + self.behind


class AnswerTemplate(NamedTuple):
    record: bytes
    """Without its beginning, and its caller."""
    patch: tuple[bytes, bytes]
    """Around the decision's id."""
    encoded_patch: EncodedAround
    response: tuple[bytes, bytes, bytes, bytes]
    """Around uid, patch and id."""

    def record_of(self, decision: str, at: float, uid: str, caller: str) -> bytes:
        begin = f'{{"id":"{decision}","at":{at!r},"request_uid":"{uid}",'
        return b'%b%b"caller":"%b"}' % (begin.encode(), self.record, caller.encode())

    def response_of(self, decision: str, uid: str) -> bytes:
        id_ = decision.encode()
        first, second, third, last = self.response
        if len(id_) == len(ID):
            patch = self.encoded_patch.with_(id_)
        else:
            before, behind = self.patch
            patch = b64encode(before + id_ + behind)
        return b"".join((first, uid.encode(), second, patch, third, id_, last))


def fits_template(decision: str, uid: str, caller: str) -> bool:
    """Whether these are texts that may stand in the place of marks."""
    return len(decision) <= len(ID) and _is_plain(decision) and _is_plain(uid) and _is_known(caller)


def _is_plain(text: str) -> bool:
    # Ids of ours are letters and digits alone, which is seen in a tenth of the time.
    return (text.isalnum() and text.isascii()) or _PLAIN.fullmatch(text) is not None


_is_known = lru_cache(maxsize=64)(_is_plain)
"""Of callers, who are few, and call again and again."""


def template_of(known: KnownPlan, record: Decision) -> AnswerTemplate | None:
    """The template of answers by *known*, of which *record* is one; None: there is none."""
    stamp = in_full(Stamp(ID, known.planned.edits))
    if stamp is None:
        return None
    operations = known.operations_for(stamp)
    patch = patch_text(operations)
    response = encode(UID, AdmissionResponse(operations=operations, decision=ID))
    marked = replace(record, id=ID, at=0.5, request_uid=UID, caller=CALLER)
    split = _split(msgspec.json.encode(marked)), _around(patch, ID), _response(response, patch)
    body, around, parts = split
    if body is None or around is None or parts is None:
        return None
    return AnswerTemplate(body, around, encoded_around(*around), parts)


def encoded_around(before: bytes, behind: bytes) -> EncodedAround:
    whole = len(before) // 3 * 3
    beside = -(len(before) + len(ID)) % 3
    return EncodedAround(
        b64encode(before[:whole]), before[whole:], behind[:beside], b64encode(behind[beside:])
    )


def _split(record: bytes) -> bytes | None:
    begin = f'{{"id":"{ID}","at":0.5,"request_uid":"{UID}",'.encode()
    end = f'"caller":"{CALLER}"}}'.encode()
    if not record.startswith(begin) or not record.endswith(end):
        return None
    return record[len(begin) : -len(end)]


def _around(text: bytes, mark: str) -> tuple[bytes, bytes] | None:
    before, found, behind = text.partition(mark.encode())
    return (before, behind) if found and mark.encode() not in behind else None


def _response(response: bytes, patch: bytes) -> tuple[bytes, bytes, bytes, bytes] | None:
    uid = _around(response, UID)
    inner = _around(uid[1], b64encode(patch).decode()) if uid else None
    last = _around(inner[1], ID) if inner else None
    return (uid[0], inner[0], *last) if uid and inner and last else None
