"""What a fleet asks of the server, as calls: our own `Writer` has a budget, and no ends at once."""

from typing import Any

import msgspec
from nemutator_controller.kube import calls
from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import Resource

Json = dict[str, Any]


def create(resource: Resource[Any], namespace: str, manifest: Json) -> Call:
    body = {"apiVersion": resource.api_version, "kind": resource.kind, **manifest}
    return calls.creating(resource, namespace, msgspec.json.encode(body))


def patch(
    resource: Resource[Any], namespace: str, name: str, change: Json, *, subresource: str = ""
) -> Call:
    return calls.patching(
        resource,
        namespace,
        name,
        msgspec.json.encode(change),
        content_type=calls.MERGE_PATCH,
        subresource=subresource,
    )


def delete(resource: Resource[Any], namespace: str, name: str) -> Call:
    return _ending(resource, namespace, name)


def finish(resource: Resource[Any], namespace: str, name: str) -> Call:
    """Delete it at once: what a kubelet does when the last container of a pod has ended."""
    return _ending(resource, namespace, name, gracePeriodSeconds=0)


def metadata_of(resource: Resource[Any]) -> Resource[Object]:
    """The same resource, read as metadata only."""
    return Resource(
        resource.group,
        resource.version,
        resource.plural,
        resource.kind,
        Object,
        resource.namespaced,
    )


def uid_in(answer: bytes) -> str:
    return msgspec.json.decode(answer, type=Object).metadata.uid


def _ending(resource: Resource[Any], namespace: str, name: str, **more: object) -> Call:
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    return Call(
        verb="delete",
        method="DELETE",
        path=resource.path(namespace, name),
        asked=calls.asked("delete", resource, namespace),
        body=msgspec.json.encode({**options, **more}),
    )
