"""Pods as an API server writes them, as small as a test needs."""

import json
from typing import Any

Json = dict[str, Any]


def pod(
    name: str, version: int = 1, *, uid: str = "", namespace: str = "team", **spec: Any
) -> Json:
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid or f"uid-{name}",
            "resourceVersion": str(version),
        },
        "spec": {"containers": [{"name": "app"}], **spec},
    }


def event(type_: str, manifest: Json) -> bytes:
    return json.dumps({"type": type_, "object": manifest}, separators=(",", ":")).encode() + b"\n"


def bookmark(version: int, *, end: bool = False) -> bytes:
    metadata: Json = {"resourceVersion": str(version), "creationTimestamp": None}
    if end:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    manifest = {"kind": "Pod", "metadata": metadata, "spec": {"containers": None}, "status": {}}
    return event("BOOKMARK", manifest)


def expired(code: int = 410, reason: str = "Expired") -> bytes:
    status = {
        "kind": "Status",
        "metadata": {},
        "code": code,
        "reason": reason,
        "message": "too old",
    }
    return event("ERROR", status)


def pods(*items: Json, version: int, after: str = "") -> bytes:
    metadata = {"resourceVersion": str(version), "continue": after}
    return json.dumps({"kind": "PodList", "metadata": metadata, "items": items}).encode()
