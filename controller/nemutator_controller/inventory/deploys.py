"""When Deployments got a new version, from the ReplicaSets that are there: Kubernetes keeps ten old ones of each."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from nemutator_common import names

from nemutator_controller.kube.objects import Metadata, Object


@dataclass(frozen=True, slots=True, kw_only=True)
class Deploy:
    at: float
    namespace: str
    kind: str
    name: str
    replica_set: str
    """The version, by the name that its pods begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployList:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "DeployList"
    now: float
    items: Sequence[Deploy]


def deploys(
    replica_sets: Iterable[Object], *, namespace: str | None, workload: tuple[str, str] | None,
    since: float, limit: int,
) -> list[Deploy]:  # fmt: skip
    """The newest first, of one *namespace* and one *workload* (kind and name) where they are given."""
    found = (
        one.metadata
        for one in replica_sets
        if namespace in (None, one.metadata.namespace) and _is_of(one.metadata, workload)
    )
    # Moments are written in such a way that the later one is the greater text.
    newest = heapq.nlargest(limit, found, key=lambda made: (made.creation_timestamp, made.key))
    listed = (_deploy(made) for made in newest)
    return [one for one in listed if one is not None and one.at >= since]


def _is_of(made: Metadata, workload: tuple[str, str] | None) -> bool:
    owner = made.controller
    return owner is not None and workload in (None, (owner.kind, owner.name))


def _deploy(made: Metadata) -> Deploy | None:
    owner = made.controller
    try:
        at = datetime.fromisoformat(made.creation_timestamp).timestamp()
    except ValueError:
        return None
    if owner is None:
        return None
    return Deploy(
        at=at,
        namespace=made.namespace,
        kind=owner.kind,
        name=owner.name,
        replica_set=made.name,
    )
