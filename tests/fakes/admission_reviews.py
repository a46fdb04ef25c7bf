"""The API server's side of an admission review: what it asks, and what it takes for an answer.

The checks are those of k8s.io/apiserver's `VerifyAdmissionResponse` for admission.k8s.io/v1, and of
its decoder before that.
"""

import base64
import json
from dataclasses import dataclass
from typing import Any

Json = Any

UID = "705ab4f5-6393-11e8-b7cc-42010a800002"


class NoAnswerError(Exception):
    """The server calls this a failed call: the webhook's failure policy decides."""


@dataclass(frozen=True)
class Verified:
    allowed: bool
    patch: list[dict[str, Json]]
    warnings: list[str]
    message: str


def review(manifest: Json = None, **request: Json) -> dict[str, Json]:
    """A question about a new pod, as the server asks it."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": UID,
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
            "requestResource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": "default",
            "operation": "CREATE",
            "userInfo": {"username": "jane", "groups": ["system:authenticated"]},
            "object": manifest,
            "oldObject": None,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
            **request,
        },
    }


def verified(body: bytes, uid: str = UID) -> Verified:
    """What the server understands, or `NoAnswerError` with its reason."""
    try:
        answer = json.loads(body)
    except ValueError as error:
        raise NoAnswerError(f"not JSON: {error}") from None
    if not isinstance(answer, dict):
        raise NoAnswerError("not an object")
    head = answer.get("apiVersion"), answer.get("kind")
    if head != ("admission.k8s.io/v1", "AdmissionReview"):
        raise NoAnswerError(f"expected webhook response of admission.k8s.io/v1, got {head}")
    response = answer.get("response")
    if not isinstance(response, dict):
        raise NoAnswerError("webhook response was absent")
    if response.get("uid") != uid:
        raise NoAnswerError("expected response.uid to be that of the request")
    if not isinstance(response.get("allowed"), bool):
        raise NoAnswerError("response.allowed is no boolean")
    return Verified(
        response["allowed"],
        _patch(response),
        _texts(response.get("warnings")),
        str((response.get("status") or {}).get("message", "")),
    )


def _patch(response: dict[str, Json]) -> list[dict[str, Json]]:
    patch, kind = response.get("patch"), response.get("patchType")
    if patch in (None, "") and kind is None:
        return []
    if patch in (None, ""):
        raise NoAnswerError("webhook returned response.patchType but not response.patch")
    if kind is None:
        raise NoAnswerError("webhook returned response.patch but not response.patchType")
    if kind != "JSONPatch":
        raise NoAnswerError(f"webhook returned invalid response.patchType {kind!r}")
    try:
        operations = json.loads(base64.b64decode(patch, validate=True))
    except (ValueError, TypeError) as error:
        raise NoAnswerError(f"the patch cannot be decoded: {error}") from None
    if not isinstance(operations, list):
        raise NoAnswerError("the patch is no list")
    return operations


def _texts(warnings: Json) -> list[str]:
    if warnings is None:
        return []
    if not isinstance(warnings, list) or not all(isinstance(each, str) for each in warnings):
        raise NoAnswerError("warnings are no texts")
    return warnings
