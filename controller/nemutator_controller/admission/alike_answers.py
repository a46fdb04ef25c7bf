"""The bytes of a record and of an answer, around what is not the same for each pod that is changed."""

from base64 import b64encode

from nemutator_controller.admission.answer_templates import ID, UID
from nemutator_controller.admission.recent_stamps import Origin
from nemutator_controller.admission.reviews import AdmissionResponse, encode

_PATCH = b"~patch~"


def record_of(
    decision: str, at: float, uid: str, origin: Origin, edits: bytes, caller: str
) -> bytes:
    """That of a pod that gets *edits*, which are written as JSON. All else can stand in JSON as it is."""
    begin = (
        f'{{"id":"{decision}","at":{at!r},"request_uid":"{uid}","operation":"CREATE","mode":"apply",'
        f'"subject":{{"api_version":"v1","kind":"Pod","namespace":"{origin.namespace}",'
        f'"name":"{origin.name}","generate_name":"{origin.generate_name}","uid":"",'
        f'"owner_kind":"{origin.owner_kind}","owner_name":"{origin.owner_name}"}},"edits":'
    )
    end = f',"warnings":[],"trace":"","caller":"{caller}"}}'
    return b"%b%b%b" % (begin.encode(), edits, end.encode())


def answer_of(uid: str, patch: bytes, decision: str) -> bytes:
    """*patch*: in base64."""
    return _ANSWER % (uid.encode(), patch, decision.encode())


def _answer() -> bytes:
    written = encode(UID, AdmissionResponse(operations=({},), patch=_PATCH, decision=ID))
    for mark in (UID.encode(), b64encode(_PATCH), ID.encode()):
        written = written.replace(mark, b"%b")
    return written


_ANSWER = _answer()
