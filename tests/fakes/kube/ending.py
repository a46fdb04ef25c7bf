"""How an object ends: who may end it, how long it gets, and what is said of it."""

from datetime import UTC, datetime
from typing import Any

from tests.fakes.kube import kinds
from tests.fakes.kube.kinds import Kind
from tests.fakes.kube.statuses import precondition_failed

Json = dict[str, Any]


def check_delete_preconditions(kind: Kind, name: str, old: Json, wanted: Json) -> None:
    metadata = old["metadata"]
    if wanted.get("uid", metadata.get("uid")) != metadata.get("uid"):
        raise precondition_failed(
            kind,
            name,
            f"the UID in the precondition ({wanted['uid']}) does not match the UID in record"
            f" ({metadata.get('uid', '')}). The object might have been deleted and then recreated",
        )
    version = metadata["resourceVersion"]
    if wanted.get("resourceVersion", version) != version:
        raise precondition_failed(
            kind,
            name,
            f"the ResourceVersion in the precondition ({wanted['resourceVersion']}) does not match"
            f" the ResourceVersion in record ({version}). The object might have been modified",
        )


def marked(old: Json, grace: int) -> Json:
    metadata = {
        **old["metadata"],
        "deletionTimestamp": timestamp(grace),
        "deletionGracePeriodSeconds": grace,
    }
    if "generation" in metadata:
        metadata["generation"] += 1
    return {**old, "metadata": metadata}


def grace_of(kind: Kind, old: Json, options: Json) -> int:
    """Only pods that a kubelet may be running get time to end."""
    if kind != kinds.PODS:
        return 0
    spec, status = old.get("spec") or {}, old.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
        return 0
    grace = options.get("gracePeriodSeconds")
    return int(spec.get("terminationGracePeriodSeconds", 30) if grace is None else grace)


def success(kind: Kind, gone: Json) -> Json:
    metadata = gone["metadata"]
    group = {"group": kind.group} if kind.group else {}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {
            "name": metadata["name"],
            **group,
            "kind": kind.plural,
            "uid": metadata.get("uid", ""),
        },
    }


def timestamp(later_s: float = 0) -> str:
    moment = datetime.fromtimestamp(datetime.now(UTC).timestamp() + later_s, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
