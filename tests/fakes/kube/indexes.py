"""Indexes of informers, for tests that look objects up."""

from collections.abc import Iterable

from nemutator_controller.kube.objects import Object


def by_node(pod: Object) -> Iterable[str]:
    node: str = getattr(getattr(pod, "spec", None), "node_name", "")
    return (node,) if node else ()


def by_namespace(item: Object) -> Iterable[str]:
    return (item.metadata.namespace,)


def by_owner(item: Object) -> Iterable[str]:
    """Under the uids of its owners."""
    return [owner.uid for owner in item.metadata.owner_references]
