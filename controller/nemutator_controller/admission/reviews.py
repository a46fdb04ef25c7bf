"""AdmissionReview `admission.k8s.io/v1` as bytes: a typed envelope, an untyped object.

The metadata of the object is decoded at once, and the rest only when it is needed: for most pods it
is not, and it is nine tenths of the bytes.

The API server accepts a response only when its apiVersion, kind and uid are those of the request,
and `patch` and `patchType` are both there or both absent; to it `null` is the same as an absent field.
"""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from nemutator_controller.kube.patch_texts import patch_text
from nemutator_controller.mutations.paths import WORKLOADS

T = TypeVar("T")

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"

LARGEST = 7 << 20
"""Bytes of a review: an object may have 3 MiB, and an update has two of them."""

LARGEST_OBJECT = 1 << 20
"""Bytes of a pod that is decoded as a whole; etcd stores little more of any object. Decoded, it needs
thirty times that, and delays everybody else's pods, and anybody who reaches our port may send one."""

LONGEST_UID = 128
LONGEST_USER = 1024
"""Characters; globs are matched against it."""
LONGEST_WARNING = 256
"""Characters; the server may cut longer ones."""
MOST_WARNINGS = 12
"""All warnings of a response together may have 4096 characters."""


_KINDS = {resource: kind for kind, resource in WORKLOADS.items()}


class ReviewError(ValueError):
    """The bytes are not an AdmissionReview that could be answered, or its object is not one."""


class _Camel(msgspec.Struct, frozen=True, rename="camel"):
    pass


class GroupVersionResource(_Camel, frozen=True):
    group: str = ""
    version: str = ""
    resource: str = ""


class UserInfo(_Camel, frozen=True):
    username: str | None = ""


class AdmissionRequest(_Camel, frozen=True, kw_only=True):
    uid: str
    operation: str

    resource: GroupVersionResource = GroupVersionResource()
    sub_resource: str | None = ""
    name: str | None = ""
    namespace: str | None = ""
    dry_run: bool | None = False
    object: msgspec.Raw = msgspec.Raw(b"null")
    old_object: msgspec.Raw = msgspec.Raw(b"null")
    """What an update replaces."""
    user_info: UserInfo | None = None
    caller: str = ""
    """Never the review's own word: the address that it came from."""
    trace: str = ""
    """Nor this: the trace that its decision is a part of."""

    @property
    def user(self) -> str:
        """The name of who asks; empty: it is not said."""
        return (self.user_info.username or "")[:LONGEST_USER] if self.user_info else ""

    @property
    def creates_pod(self) -> bool:
        resource = self.resource
        return (
            self.operation == "CREATE"
            and (resource.group, resource.version, resource.resource) == ("", "v1", "pods")
            and not self.sub_resource
        )

    @property
    def workload(self) -> str:
        """The kind of the workload that is created or changed; empty: it is none.

        The template of a Job that there is already cannot be changed.
        """
        resource = self.resource
        kind = _KINDS.get((resource.group, resource.resource), "")
        changeable = ("CREATE",) if kind == "Job" else ("CREATE", "UPDATE")
        asked = self.operation in changeable and resource.version == "v1" and not self.sub_resource
        return kind if asked else ""


class _Head(msgspec.Struct, frozen=True):
    metadata: Any = None


class _Review(_Camel, frozen=True):
    api_version: str
    kind: str
    request: AdmissionRequest


class AdmissionResponse(msgspec.Struct, frozen=True, kw_only=True):
    operations: Sequence[dict[str, Any]] = ()
    """A JSON Patch; empty: no patch."""
    patch: bytes = b""
    """The same as it is written, where somebody has written it already."""
    warnings: tuple[str, ...] = ()
    refused: str = ""
    """Why the pod is not allowed, for the person who creates it."""
    decision: str = ""
    """The decision's id, which goes into the server's audit log."""


UNCHANGED = AdmissionResponse()

_decoder = msgspec.json.Decoder(_Review)
_heads = msgspec.json.Decoder(_Head)
_objects = msgspec.json.Decoder(dict[str, Any])


def decode(body: bytes, *, caller: str = "") -> AdmissionRequest:
    """The request in *body*, which came from *caller*, or a `ReviewError` that says what was expected."""
    if len(body) > LARGEST:
        raise ReviewError(f"the review has more than {LARGEST} bytes")
    review = _decoded(_decoder, body, KIND)
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        raise ReviewError(f"expected {API_VERSION} {KIND}: name it in admissionReviewVersions")
    uid = review.request.uid
    if not uid or len(uid) > LONGEST_UID or not uid.isprintable():
        raise ReviewError(f"request.uid: expected 1 to {LONGEST_UID} printable characters")
    return msgspec.structs.replace(review.request, caller=caller, trace="")


def head_of(request: AdmissionRequest) -> dict[str, Any]:
    """The object with nothing but its metadata, or a `ReviewError` when it is not an object."""
    return {"metadata": _decoded(_heads, request.object, "object").metadata}


def object_of(request: AdmissionRequest) -> dict[str, Any]:
    """The whole object, or a `ReviewError` when it is too large or not an object."""
    return _whole(request.object)


def old_object_of(request: AdmissionRequest) -> dict[str, Any] | None:
    """The same for what an update replaces; None when something is created."""
    return _whole(request.old_object) if request.operation == "UPDATE" else None


def encode(uid: str, response: AdmissionResponse) -> bytes:
    fields: dict[str, Any] = {"uid": uid, "allowed": not response.refused}
    if response.refused:
        message = printable(response.refused, LONGEST_WARNING * 4)
        fields["status"] = {"code": 403, "reason": "Forbidden", "message": message}
    elif response.operations:
        fields["patchType"] = "JSONPatch"
        fields["patch"] = b64encode(response.patch or patch_text(response.operations)).decode()
    if response.warnings:
        fields["warnings"] = list(_cut(response.warnings))
    if response.decision:
        fields["auditAnnotations"] = {"decision": response.decision}
    return msgspec.json.encode({"apiVersion": API_VERSION, "kind": KIND, "response": fields})


def printable(text: str, most: int) -> str:
    """*text* as one line of printable ASCII, which no terminal or header can misread, cut to *most*."""
    line = "".join(char if char.isprintable() and char.isascii() else "?" for char in text)
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _whole(content: msgspec.Raw) -> dict[str, Any]:
    if len(content) > LARGEST_OBJECT:
        raise ReviewError(f"the object has more than {LARGEST_OBJECT} bytes")
    return _decoded(_objects, content, "object")


def _decoded(decoder: msgspec.json.Decoder[T], content: bytes | msgspec.Raw, what: str) -> T:
    try:
        return decoder.decode(content)
    except msgspec.ValidationError as error:
        raise ReviewError(f"expected an {what}: {printable(str(error), 200)}") from None
    except (msgspec.DecodeError, RecursionError, UnicodeError, ValueError) as error:
        raise ReviewError(f"expected JSON: {printable(str(error), 200)}") from None


def _cut(warnings: Iterable[str]) -> Iterable[str]:
    distinct = list(dict.fromkeys(warnings))
    for warning in distinct[:MOST_WARNINGS]:
        yield printable(f"nemutator: {warning}", LONGEST_WARNING)
    if len(distinct) > MOST_WARNINGS:
        yield f"nemutator: and {len(distinct) - MOST_WARNINGS} more warnings"
