"""Pods that are alike, the policies that read them, and what is known of their plans."""

from typing import Any

from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.decisions import pod_subject
from nemutator_controller.mutations.resource_bounds import Range, ResourceBounds, Room
from nemutator_controller.policies.plans import Situation

from tests.controller.admission.test_webhook_handler import Admission

TEAM = {
    "match": {"excludedNames": ["odd*"]},
    "mode": "Apply",
    "mutations": [{"labels": {"set": {"team": "a"}}}],
}


HALF = {
    "match": {"users": ["jim"]},
    "mode": "Apply",
    "mutations": [{"resources": {"requests": {"cpu": {"ratio": 0.5}}}}],
}


DOUBLE = {
    "mode": "Apply",
    "mutations": [{"resources": {"requests": {"cpu": {"ratio": 2}, "memory": {"ratio": 2}}}}],
}


KATA = {
    "match": {"podSelector": {"matchLabels": {"tier": "kata"}}},
    "mode": "Apply",
    "mutations": [{"runtimeClassName": {"set": "kata"}}],
}


VARIABLE = {
    "mode": "Apply",
    "mutations": [{"env": {"set": [{"name": "A", "value": "1"}]}}],
}


HASHED = {
    "match": {"podSelector": {"matchLabels": {"pod-template-hash": "7d9c"}}},
    "mode": "Apply",
    "mutations": [{"labels": {"set": {"team": "hashed"}}}],
}


FIXED = {
    "mode": "Apply",
    "mutations": [
        {"resources": {"limits": {"cpu": {"value": "2"}}, "requests": {"memory": {"ratio": 2}}}}
    ],
}


NARROW = ResourceBounds(
    ranges=(Range("r", "container", "cpu", parse_quantity("200m"), parse_quantity("1")),),
    rooms=(Room("q", "requests", "cpu", parse_quantity("2")),),
)


def left(cpu: str, memory: str = "16Gi") -> ResourceBounds:
    """What two quotas have left."""
    first = Room("q", "requests", "cpu", parse_quantity(cpu))
    second = Room("r", "requests", "memory", parse_quantity(memory))
    return ResourceBounds(rooms=(first, second))


SHRINKING = tuple(
    left(cpu, memory)
    for cpu, memory in (("9", "16Gi"), ("6", "3Gi"), ("4", "2Gi"), ("300m", "2Gi"), ("0", "0"))
)


POLICIES: dict[str, Any] = {"team": TEAM, "half": HALF, "kata": KATA}


SITUATION = Situation(subject=pod_subject("default", "web"))


def pod(random: str = "x7k2p", **changed: Any) -> Any:
    """One of a ReplicaSet, as an API server sends it."""
    token = {"name": f"kube-api-access-{random}", "mountPath": "/var/run/secrets"}
    return {
        "metadata": {
            "generateName": "web-7d9c-",
            "labels": {"app": "web"},
            "managedFields": [{"manager": "kube", "time": f"2026-11-23T07:{random}"}],
        }
        | changed,
        "spec": {
            "containers": [
                {"name": "app", "image": "a:1", "volumeMounts": [token],
                 "resources": {"requests": {"cpu": "100m"}}}
            ],
            "volumes": [{"name": token["name"], "projected": {"sources": []}}],
        },
    }  # fmt: skip


def revised(manifest: Any, revision: str, command: Any = None) -> Any:
    """Of that revision of a Deployment, each with an image and a variable of its own; empty: of none."""
    if revision:
        metadata, [container] = manifest["metadata"], manifest["spec"]["containers"]
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"web-{revision}"}
        metadata["ownerReferences"] = [owner | {"uid": f"u-{revision}", "controller": True}]
        metadata["generateName"] = f"web-{revision}-"
        metadata["labels"] |= {"pod-template-hash": revision}
        container |= {"image": f"a:{revision}", "env": [{"name": "R", "value": revision}]}
        container |= {"command": command} if command else {}
    return manifest


def known(admission: Admission) -> int:
    return len(admission.answerer.plans)


def of_another_workload(number: int, **changed: Any) -> Any:
    """Its containers, too, are called otherwise."""
    manifest = revised(pod(), f"7d9c{number}", changed.pop("command", None))
    manifest["metadata"]["ownerReferences"][0]["name"] = f"shop{number}-7d9c{number}"
    manifest["metadata"] |= {"generateName": f"shop{number}-7d9c{number}-"} | changed
    [container] = manifest["spec"]["containers"]
    container["name"] = f"app-{number}"
    manifest["spec"]["serviceAccountName"] = f"shop{number}"
    return manifest


def asking_for(number: int, *asked: Any, **of_pod: Any) -> Any:
    """One of another workload, whose containers ask for that."""
    manifest = of_another_workload(number)
    manifest["spec"]["containers"] = [
        {"name": f"app-{number}-{index}", "image": "a:1", "resources": each}
        for index, each in enumerate(asked)
    ]
    manifest["spec"] |= of_pod
    return manifest


REQUESTED = {"requests": {"cpu": "1", "memory": "64Mi"}, "limits": {"memory": "1Gi"}}
GUARANTEED = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
