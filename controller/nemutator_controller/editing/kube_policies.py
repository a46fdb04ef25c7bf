"""MutationPolicies of a cluster, read and written with the token of the person who asks.

So RBAC decides at the API server, whose own audit has the person's name; the brain has no permission to
change a policy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from nemutator_common.secret import Secret

from nemutator_controller.cluster.owners import owner_of
from nemutator_controller.editing.documents import Outcome, StoredPolicy
from nemutator_controller.editing.previews import RunningObject, RunningObjects
from nemutator_controller.editing.refusals import NotEditedError, not_edited
from nemutator_controller.kube import calls
from nemutator_controller.kube.calls import Call, Selection
from nemutator_controller.kube.failures import ForbiddenError, KubeError
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.resources import (
    DAEMON_SETS,
    DEPLOYMENTS,
    NAMESPACES,
    PODS,
    STATEFUL_SETS,
    Resource,
)
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.policies.model import Policy
from nemutator_controller.policies.objects import MUTATION_POLICIES
from nemutator_controller.policies.snapshot import MOST

MOST_OBJECTS = 500
"""Of a kind, one page: a preview shows what kind of thing would change, and need not have all pods."""

WORKLOADS: Sequence[Resource[Any]] = (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS)

NOBODY = "policies of a cluster are read and changed as a person"
SIGN_IN = (
    "open the console, or send a token of yours; `kubectl edit mutationpolicies` does the same"
)


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = msgspec.field(name="resourceVersion", default="")
    labels: dict[str, str] = msgspec.field(default_factory=dict)


class _Head(msgspec.Struct, frozen=True):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _List(msgspec.Struct, frozen=True):
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)
    items: list[dict[str, Any]] = msgspec.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class KubePolicies:
    """An `EditablePolicies`."""

    transport: Transport

    async def all(self, who: Secret | None) -> Sequence[StoredPolicy]:
        found = await self._listed(who, MUTATION_POLICIES, limit=MOST)
        return [_stored(document) for document in found.items]

    async def running(self, who: Secret | None, policy: Policy) -> RunningObjects:
        resources = WORKLOADS if policy.spec.apply_to == "template" else (PODS,)
        labels = await self._namespace_labels(who)
        items: list[RunningObject] = []
        more = False
        for resource in resources:
            page = await self._listed(who, resource, limit=MOST_OBJECTS)
            more = more or bool(page.metadata.get("continue"))
            items += [_running(document, resource, labels) for document in page.items]
        return RunningObjects(items=items, more=more, defaulted=True)

    async def save(
        self, who: Secret | None, document: Mapping[str, Any], *, version: str
    ) -> Outcome:
        name = document["metadata"]["name"]
        if not version:
            body = msgspec.json.encode({**document, "metadata": {"name": name}})
            await self._sent(who, calls.creating(MUTATION_POLICIES, "", body))
            return "created"
        operations = [
            {"op": "test", "path": "/metadata/resourceVersion", "value": version},
            {"op": "replace", "path": "/spec", "value": document.get("spec")},
        ]
        call = calls.patching(
            MUTATION_POLICIES,
            "",
            name,
            msgspec.json.encode(operations),
            content_type=calls.JSON_PATCH,
        )
        answered = msgspec.json.decode(await self._sent(who, call), type=_Head)
        return "unchanged" if answered.metadata.resource_version == version else "changed"

    async def _namespace_labels(self, who: Secret | None) -> Mapping[str, Mapping[str, str]] | None:
        """By name; None where this person may not list namespaces."""
        try:
            found = await self._page(who, NAMESPACES, limit=MOST_OBJECTS)
        except ForbiddenError:
            return None
        except KubeError as error:
            raise not_edited(error) from error
        heads = [msgspec.convert(each, _Head) for each in found.items]
        return {head.metadata.name: head.metadata.labels for head in heads}

    async def _listed(self, who: Secret | None, resource: Resource[Any], *, limit: int) -> _List:
        try:
            return await self._page(who, resource, limit=limit)
        except KubeError as error:
            raise not_edited(error) from error

    async def _page(self, who: Secret | None, resource: Resource[Any], *, limit: int) -> _List:
        call = calls.listing(resource, Selection(), limit=limit)
        body = await self.transport.send(_as(who, replace(call, accept=calls.JSON)))
        return msgspec.json.decode(body, type=_List)

    async def _sent(self, who: Secret | None, call: Call) -> bytes:
        try:
            return await self.transport.send(_as(who, call))
        except KubeError as error:
            raise not_edited(error) from error


def _as(who: Secret | None, call: Call) -> Call:
    if who is None:
        raise NotEditedError(NOBODY, SIGN_IN)
    return replace(call, token=who)


def _stored(document: Mapping[str, Any]) -> StoredPolicy:
    metadata = msgspec.convert(document, _Head).metadata
    status = document.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    said = [
        str(each.get("message") or each.get("reason") or "")[:512]
        for each in (conditions if isinstance(conditions, list) else ())
        if isinstance(each, dict) and each.get("status") != "True"
    ]
    return StoredPolicy(
        name=metadata.name,
        spec=document.get("spec"),
        version=metadata.resource_version,
        condition="; ".join(filter(None, said)),
    )


def _running(
    document: Mapping[str, Any],
    resource: Resource[Any],
    labels: Mapping[str, Mapping[str, str]] | None,
) -> RunningObject:
    metadata = msgspec.convert(document, _Head).metadata
    kind, name = owner_of(document) if resource.kind == "Pod" else (resource.kind, metadata.name)
    subject = Subject(
        api_version=resource.api_version,
        kind=resource.kind,
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        owner_kind=kind,
        owner_name=name,
    )
    known = None if labels is None else labels.get(metadata.namespace)
    return RunningObject(subject=subject, document=document, namespace_labels=known)
