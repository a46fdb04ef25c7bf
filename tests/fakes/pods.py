"""Pods of a cluster that does not exist, and who owns them."""

from typing import Any

from nemutator_controller.cluster.pods import (
    CONTROLLER,
    NAMESPACE,
    UNMANAGED,
    ClusterSnapshot,
    by_controller,
    by_namespace,
    by_no_controller,
    by_uid,
)
from nemutator_controller.kube.objects import (
    Container,
    ContainerStatus,
    Metadata,
    Object,
    Owner,
    Pod,
    PodSpec,
    PodStatus,
)
from nemutator_controller.kube.store import Store


def owned(kind: str, name: str, uid: str) -> tuple[Owner, ...]:
    return (Owner(kind, name, uid, controller=True),)


def pod(
    name: str = "web-abc-1",
    *,
    uid: str = "u1",
    node: str = "n1",
    owners: tuple[Owner, ...] = (),
    labels: dict[str, str] | None = None,
    containers: dict[str, str] | None = None,
) -> Pod:
    """*containers*: ids by name."""
    statuses = tuple(
        ContainerStatus(name=container, container_id=f"containerd://{identity}")
        for container, identity in (containers or {"app": "c1"}).items()
    )
    return Pod(
        metadata=Metadata(
            name=name,
            namespace="shop",
            uid=uid,
            resource_version="1",
            owner_references=owners,
            labels=labels or {},
        ),
        spec=PodSpec(containers=(Container(name="app"),), node_name=node),
        status=PodStatus(container_statuses=statuses),
    )


def kube_object(name: str, uid: str, owners: tuple[Owner, ...] = ()) -> Object:
    return Object(
        metadata=Metadata(
            name=name, namespace="shop", uid=uid, resource_version="1", owner_references=owners
        )
    )


def picture(
    *pods: Pod, replica_sets: tuple[Object, ...] = (), jobs: tuple[Object, ...] = ()
) -> ClusterSnapshot:
    return ClusterSnapshot(_held(*pods), _held(*replica_sets), _held(*jobs))


def _held(*objects: Any) -> Any:
    store: Store[Any] = Store(
        {
            "uid": by_uid,
            NAMESPACE: by_namespace,
            CONTROLLER: by_controller,
            UNMANAGED: by_no_controller,
        }
    )
    for one in objects:
        store.put(one)
    return store.snapshot()
