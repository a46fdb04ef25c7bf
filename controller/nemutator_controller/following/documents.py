"""Missed pods as the API shows them."""

from collections.abc import Iterable
from typing import Any

from nemutator_common import names

from nemutator_controller.following.missed import MissedPod, moment_of

Json = dict[str, Any]


def missed_pods(listed: Iterable[MissedPod]) -> Json:
    items = [_missed_pod(each) for each in listed]
    return {"apiVersion": names.API_VERSION, "kind": "MissedPodList", "items": items}


def _missed_pod(missed: MissedPod) -> Json:
    subject = missed.pod.subject
    return {
        "namespace": subject.namespace,
        "name": subject.name,
        "uid": subject.uid,
        "ownerKind": subject.owner_kind,
        "ownerName": subject.owner_name,
        "created": missed.pod.created,
        # In seconds, as all other lists have their times.
        "since": moment_of(missed.pod.created),
        "noticed": missed.noticed_at,
        "policies": missed.policies,
        "required": missed.is_required,
        "result": missed.result,
        "why": str(missed),
    }
