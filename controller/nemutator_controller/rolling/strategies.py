"""What is written into a workload to roll it slowly, and what its status says of the roll: pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nemutator_common import names

Json = Mapping[str, Any]

FIELDS = {"Deployment": "strategy", "StatefulSet": "updateStrategy", "DaemonSet": "updateStrategy"}
SLOW: Mapping[str, Json] = {
    "Deployment": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
    # One pod at a time is all that the API permits there, from the last to the first.
    "StatefulSet": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
    # One node after another: never two pods of it on a node, and never two nodes without one.
    "DaemonSet": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
}


@dataclass(frozen=True, slots=True)
class RollStatus:
    """How far a workload's controller is."""

    wanted: int
    updated: int
    available: int
    seen: bool
    """Whether the controller has seen what was written last."""
    left: int
    """Pods, old ones too."""
    generation: int
    """Another one whenever somebody has changed the workload."""

    @property
    def is_done(self) -> bool:
        return self.seen and self.wanted == self.updated == self.available == self.left

    @property
    def size(self) -> int:
        return max(self.wanted, self.left)

    @property
    def progress(self) -> int:
        return self.updated + self.available


def why_not(kind: str, document: Json) -> str:
    """Why the workload cannot be rolled slowly; empty: it can."""
    spec = _map(document, "spec")
    strategy = _map(spec, FIELDS[kind])
    usual = strategy.get("type", "RollingUpdate")
    if usual != "RollingUpdate":
        return (
            f"its {FIELDS[kind]} is {str(usual)[:40]}: it does not want two versions side by side"
        )
    if is_paused(document):
        return "it is paused: somebody is in the middle of something"
    if _map(strategy, "rollingUpdate").get("partition"):
        return "it has a partition: somebody rolls it in parts"
    if kind == "DaemonSet":
        return "" if status(kind, document).wanted > 0 else "no node has a pod of it"
    return "" if _number(spec, "replicas", 1) > 0 else "it has no replicas"


def begun(kind: str, document: Json, roll: str) -> Json:
    """The patch that begins *roll*: the slow strategy, and a template that is another one."""
    template = {"metadata": {"annotations": {str(names.ROLLED): roll}}}
    return {
        "spec": {
            FIELDS[kind]: _instead(_strategy(kind, document), SLOW[kind]),
            "template": template,
        }
    }


def is_begun(document: Json, roll: str) -> bool:
    metadata = _map(_map(_map(document, "spec"), "template"), "metadata")
    return _map(metadata, "annotations").get(names.ROLLED) == roll


def ended(kind: str, document: Json, strategy: Json) -> Json | None:
    """The patch that puts *strategy* back; None: it is not ours any more, or it is back already."""
    now = _strategy(kind, document)
    if now == strategy or not _is_slow(kind, now):
        return None
    return {"spec": {FIELDS[kind]: _instead(now, strategy)}}


def remembered(kind: str, document: Json) -> Json:
    """The strategy that the workload has."""
    return _strategy(kind, document)


def is_paused(document: Json) -> bool:
    return bool(_map(document, "spec").get("paused"))


def goes_on_faster(kind: str, strategy: Json) -> bool:
    """Whether a controller that cannot be paused would make more pods anew at once by *strategy*."""
    rolling = _map(strategy, "rollingUpdate")
    surge, away = rolling.get("maxSurge", 0), rolling.get("maxUnavailable", 1)
    return kind != "Deployment" and (away != 1 or surge not in (0, "0%"))


def status(kind: str, document: Json) -> RollStatus:
    found = _map(document, "status")
    generation = _number(_map(document, "metadata"), "generation", 0)
    if kind == "DaemonSet":
        return RollStatus(
            wanted=_number(found, "desiredNumberScheduled", 0),
            updated=_number(found, "updatedNumberScheduled", 0),
            available=_number(found, "numberAvailable", 0),
            seen=_number(found, "observedGeneration", 0) >= generation,
            left=_number(found, "currentNumberScheduled", 0),
            generation=generation,
        )
    return RollStatus(
        wanted=_number(_map(document, "spec"), "replicas", 1),
        updated=_number(found, "updatedReplicas", 0),
        available=_number(found, "availableReplicas", 0),
        seen=_number(found, "observedGeneration", 0) >= generation,
        left=_number(found, "replicas", 0),
        generation=generation,
    )


def _strategy(kind: str, document: Json) -> Json:
    return _map(_map(document, "spec"), FIELDS[kind])


def _is_slow(kind: str, now: Json) -> bool:
    """Whether what we have set is there still; the server may have added defaults to it."""
    slow, rolling = SLOW[kind], _map(now, "rollingUpdate")
    wanted = _map(slow, "rollingUpdate").items()
    return now.get("type") == slow["type"] and all(rolling.get(k, 0) == v for k, v in wanted)


def _instead(now: Json, wanted: Json) -> Json:
    """A merge patch (RFC 7386) after which *wanted* is all that there is."""
    gone = {key: None for key in now if key not in wanted}
    return gone | {
        key: _instead(_map(now, key), value) if isinstance(value, Mapping) else value
        for key, value in wanted.items()
    }


def _map(document: Json, field: str) -> Json:
    found = document.get(field)
    return found if isinstance(found, Mapping) else {}


def _number(document: Json, field: str, usual: int) -> int:
    found = document.get(field, usual)
    return found if isinstance(found, int) and not isinstance(found, bool) else usual
