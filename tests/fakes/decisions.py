"""Decisions for tests, and the pods that they are about."""

from typing import Any

from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.journal.records import KeptTombstone
from nemutator_controller.mutations.decisions import Decision, Edit, Subject

NOW = 1_760_000_000.0

POD = Subject(
    api_version="v1",
    kind="Pod",
    namespace="team",
    name="web-1",
    owner_kind="Deployment",
    owner_name="web",
)

CPU = "containers[name=app].resources.requests.cpu"
TEAM = "metadata.labels[team]"
INIT = "initContainers[name=nemutator-init]"


def edit(path: str, before: object = ..., after: object = ..., **more: Any) -> Edit:
    """Without *before* the field was not there; without *after* it was taken away."""
    return Edit(
        path=path,
        before=() if before is ... else (before,),
        after=() if after is ... else (after,),
        verb=more.pop("verb", "labels"),
        policy=more.pop("policy", "defaults"),
        **more,
    )


EDITS = (
    edit(TEAM, after="blue"),
    edit(CPU, before="1", after="250m", verb="resources"),
    edit(INIT, after={"name": "nemutator-init", "image": "init:1"}, verb="containers"),
)


def decision(number: int = 1, **changed: Any) -> Decision:
    return Decision(
        **{
            "id": f"d{number}",
            "at": NOW + number,
            "request_uid": f"r{number}",
            "operation": "CREATE",
            "mode": "apply",
            "subject": POD,
            "edits": EDITS,
            **changed,
        }
    )


def kept(path: str = TEAM, **changed: Any) -> KeptTombstone:
    """A tombstone of the Deployment that makes `POD`."""
    tombstone = changed.pop("tombstone", Tombstone("team", "Deployment", "web", path))
    return KeptTombstone(**{"tombstone": tombstone, "at": NOW, "decision": "d1", **changed})


def changed_pod(**labels: str) -> dict[str, Any]:
    """The pod as `EDITS` have left it, and as the server shows it."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-1", "namespace": "team", "labels": {"team": "blue", **labels}},
        "spec": {
            "initContainers": [
                {"name": "nemutator-init", "image": "init:1", "imagePullPolicy": "IfNotPresent"}
            ],
            "containers": [
                {"name": "app", "image": "app:1", "resources": {"requests": {"cpu": "250m"}}}
            ],
        },
    }
