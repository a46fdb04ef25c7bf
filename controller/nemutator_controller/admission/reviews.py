"""AdmissionReview `admission.k8s.io/v1` as bytes: a typed envelope, an untyped object.

The metadata of the object is decoded at once, and the rest only when it is wanted: for most pods it
is not, and it is nine tenths of the bytes.

The API server takes an answer only when apiVersion, kind and uid are those of its question, and
`patch` and `patchType` come together or not at all; `null` and absent fields are as good as each
other to it. Nobody but us makes the answer, so it is built here from types.
"""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"

LARGEST = 7 << 20
"""Bytes of a review: an object may have 3 MiB, and an update brings two."""

LARGEST_OBJECT = 1 << 20
"""Bytes of a pod that is decoded as a whole; etcd takes little more of any object. It becomes thirty
times that, and holds up everybody else's pods: whoever reaches our port may send one."""

LONGEST_UID = 128
LONGEST_WARNING = 256
"""Characters; the server may cut what is longer."""
MOST_WARNINGS = 12
"""All warnings of an answer together may have 4096 characters."""


class ReviewError(ValueError):
    """The bytes are no AdmissionReview that could be answered, or no object."""


class _Camel(msgspec.Struct, frozen=True, rename="camel"):
    pass


class GroupVersionResource(_Camel, frozen=True):
    group: str = ""
    version: str = ""
    resource: str = ""


class GroupVersionKind(_Camel, frozen=True):
    group: str = ""
    version: str = ""
    kind: str = ""


class AdmissionRequest(_Camel, frozen=True, kw_only=True):
    uid: str
    operation: str
    kind: GroupVersionKind = GroupVersionKind()
    resource: GroupVersionResource = GroupVersionResource()
    sub_resource: str | None = ""
    name: str | None = ""
    namespace: str | None = ""
    dry_run: bool | None = False
    object: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def creates_pod(self) -> bool:
        resource = self.resource
        return (
            self.operation == "CREATE"
            and (resource.group, resource.version, resource.resource) == ("", "v1", "pods")
            and not self.sub_resource
        )


class _Head(msgspec.Struct, frozen=True):
    metadata: Any = None


class _Review(_Camel, frozen=True):
    api_version: str
    kind: str
    request: AdmissionRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionResponse:
    operations: Sequence[dict[str, Any]] = ()
    """A JSON Patch; empty: no patch."""
    warnings: tuple[str, ...] = ()
    refused: str = ""
    """Why it is not allowed, for whoever asked."""
    decision: str = ""
    """Its id goes into the server's audit log."""


_decoder = msgspec.json.Decoder(_Review)
_heads = msgspec.json.Decoder(_Head)
_objects = msgspec.json.Decoder(dict[str, Any])
_encoder = msgspec.json.Encoder()


def decode(body: bytes) -> AdmissionRequest:
    """The question in *body*, or a `ReviewError` that says what was expected."""
    if len(body) > LARGEST:
        raise ReviewError(f"the review has more than {LARGEST} bytes")
    review = _decoded(_decoder, body, KIND)
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        raise ReviewError(f"expected {API_VERSION} {KIND}: name it in admissionReviewVersions")
    uid = review.request.uid
    if not uid or len(uid) > LONGEST_UID or not uid.isprintable():
        raise ReviewError(f"request.uid: expected 1 to {LONGEST_UID} printable characters")
    return review.request


def head_of(request: AdmissionRequest) -> dict[str, Any]:
    """The object with nothing but its metadata; a `ReviewError` when it is no object."""
    return {"metadata": _decoded(_heads, request.object, "object").metadata}


def object_of(request: AdmissionRequest) -> dict[str, Any]:
    """All of it."""
    if len(request.object) > LARGEST_OBJECT:
        raise ReviewError(f"the object has more than {LARGEST_OBJECT} bytes")
    return _decoded(_objects, request.object, "object")


def encode(uid: str, answer: AdmissionResponse) -> bytes:
    response: dict[str, Any] = {"uid": uid, "allowed": not answer.refused}
    if answer.refused:
        message = printable(answer.refused, LONGEST_WARNING * 4)
        response["status"] = {"code": 403, "reason": "Forbidden", "message": message}
    elif answer.operations:
        response["patchType"] = "JSONPatch"
        response["patch"] = b64encode(_encoder.encode(answer.operations)).decode()
    if answer.warnings:
        response["warnings"] = list(_cut(answer.warnings))
    if answer.decision:
        response["auditAnnotations"] = {"decision": answer.decision}
    return _encoder.encode({"apiVersion": API_VERSION, "kind": KIND, "response": response})


def printable(text: str, most: int) -> str:
    """On one line, without what a terminal or a header would take for more than text."""
    line = "".join(char if char.isprintable() and char.isascii() else "?" for char in text)
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _decoded(decoder: msgspec.json.Decoder[T], content: bytes | msgspec.Raw, what: str) -> T:
    try:
        return decoder.decode(content)
    except msgspec.ValidationError as error:
        raise ReviewError(f"expected an {what}: {_short(error)}") from None
    except msgspec.DecodeError as error:
        raise ReviewError(f"expected JSON: {_short(error)}") from None
    except (RecursionError, UnicodeError, ValueError) as error:
        raise ReviewError(f"expected JSON that can be read: {_short(error)}") from None


def _cut(warnings: Iterable[str]) -> Iterable[str]:
    told = list(dict.fromkeys(warnings))
    for warning in told[:MOST_WARNINGS]:
        yield printable(f"nemutator: {warning}", LONGEST_WARNING)
    if len(told) > MOST_WARNINGS:
        yield f"nemutator: and {len(told) - MOST_WARNINGS} more warnings"


def _short(error: Exception) -> str:
    return printable(str(error), 200)
