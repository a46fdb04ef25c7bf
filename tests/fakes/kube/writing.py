"""What becomes of a write: defaults, checks, admission, one conditional commit.

The store and the tables are read and written between two awaits only: a write that waited for a
webhook finds out whether somebody else was faster, as the real one finds out from etcd.
"""

import copy
import json
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tests.fakes.kube import kinds, registering
from tests.fakes.kube.disruptions import budget_for, spend
from tests.fakes.kube.ending import (
    check_delete_preconditions,
    grace_of,
    marked,
    success,
    timestamp,
)
from tests.fakes.kube.kinds import Kind
from tests.fakes.kube.ownership import note_write
from tests.fakes.kube.resizing import resized
from tests.fakes.kube.statuses import (
    ApiError,
    already_exists,
    bad_request,
    conflict,
    invalid,
    invalid_named,
    not_found,
    unexplained,
)
from tests.fakes.kube.store import Store
from tests.fakes.kube.validating import (
    check_change,
    check_made,
    check_name,
    wrong_shape,
)

Json = dict[str, Any]
Operation = Literal["CREATE", "UPDATE", "DELETE"]

_TRIES = 5
"""The real one also gives a patch without resourceVersion five tries."""

LARGEST_OBJECT = 1536 * 1024
"""What etcd takes by default. There it is mostly protobuf, here it is JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A write request, as far as its head tells."""

    kind: Kind
    namespace: str
    name: str = ""
    subresource: str = ""
    user: str = "system:admin"
    groups: tuple[str, ...] = ("system:masters",)
    manager: str = "unknown"
    dry_run: bool = False
    applied: bool = False
    """By server-side apply, which keeps managedFields itself."""
    evicted: bool = False
    """A deletion that an eviction has asked for: webhooks were asked about the eviction."""
    collected: bool = False
    """A deletion of one of many: webhooks are not told its name."""
    warnings: list[str] = field(default_factory=list)
    """What webhooks want the caller to read: `Warning` headers of the answer."""


class Admission(Protocol):
    async def mutate(
        self, write: Write, operation: Operation, new: Json | None, old: Json | None
    ) -> Json | None:
        """The object as the webhooks leave it; raises `ApiError` when one denies it."""
        ...

    async def validate(
        self, write: Write, operation: Operation, new: Json | None, old: Json | None
    ) -> None:
        """Raises `ApiError` when a webhook denies what the mutating ones have left."""
        ...


class Writer:
    def __init__(self, store: Store, admission: Admission) -> None:
        self._store = store
        self._admission = admission

    async def create(self, write: Write, body: Json) -> Json:
        kind, new = write.kind, copy.deepcopy(body)
        metadata = self._checked(write, new)
        if metadata.get("resourceVersion"):
            raise unexplained("resourceVersion should not be set on objects to be created")
        if kind.namespaced and not self._store.get(kinds.NAMESPACES, "", write.namespace):
            raise not_found(kinds.NAMESPACES, write.namespace)
        for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
            metadata.pop(name, None)
        _default(kind, new)
        new = await self._admission.mutate(write, "CREATE", new, None) or new
        # Only now it gets its name and its identity: mutating webhooks do not see them.
        metadata = new["metadata"]
        self._named(kind, metadata)
        name = metadata["name"]
        metadata["uid"], metadata["creationTimestamp"] = str(uuid.uuid4()), timestamp()
        if kind.generation:
            metadata["generation"] = 1
        if kind.status:
            new.pop("status", None)
        _begin(kind, new)
        check_made(kind, new)
        await self._admission.validate(write, "CREATE", new, None)
        if self._store.get(kind, write.namespace, name):
            raise already_exists(kind, name)
        if not write.applied:
            note_write(write.manager, "", None, new)
        if write.dry_run:
            return new
        stored = self._keep(kind, new)
        for defined in kinds.defined_by(stored) if kind == kinds.DEFINITIONS else ():
            self._store.begin(defined)
        return stored

    async def update(self, write: Write, body: Json) -> Json:
        old = self._found(write)
        new = copy.deepcopy(body)
        metadata = self._checked(write, new)
        _check_uid(write, old["metadata"], metadata)
        if not metadata.get("resourceVersion") and not write.kind.unconditional:
            why = "Invalid value: 0: must be specified for an update"
            cause = ("FieldValueInvalid", "metadata.resourceVersion", why)
            # The one refusal of this kind that names the resource.
            raise invalid_named(write.kind.group, write.kind.plural, write.name, cause)
        return await self.commit(write, old, new)

    async def change(self, write: Write, changed: Callable[[Json], Json]) -> Json:
        """Read, change and commit; again when somebody was faster and the change names no version."""
        for tries_left in reversed(range(_TRIES)):
            old = self._found(write)
            new = changed(copy.deepcopy(old))
            self._checked(write, new)
            try:
                return await self.commit(write, old, new)
            except ApiError as error:
                faster = self._store.get(write.kind, write.namespace, write.name) is not old
                named = new["metadata"].get("resourceVersion") != old["metadata"]["resourceVersion"]
                if error.code != 409 or not faster or named or not tries_left:
                    raise
        raise AssertionError("unreachable: the last try returns or raises")

    async def commit(self, write: Write, old: Json, new: Json) -> Json:
        kind, name = write.kind, write.name
        if new["metadata"].get("resourceVersion") not in (
            None,
            "",
            old["metadata"]["resourceVersion"],
        ):
            raise conflict(kind, name)
        uid = new["metadata"].get("uid")
        new = _combined(write, old, new)
        admitted = await self._admission.mutate(write, "UPDATE", new, old)
        new = _combined(write, old, admitted or new)
        check_change(kind, name, old["metadata"], {**new["metadata"], "uid": uid})
        await self._admission.validate(write, "UPDATE", new, old)
        if self._store.get(kind, write.namespace, name) is not old:
            raise conflict(kind, name)
        if kind.generation and _specified(new) != _specified(old):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        if not write.applied:
            note_write(write.manager, write.subresource, old, new)
        if _unchanged(old, new):
            return old
        if write.dry_run:
            return new
        stored = self._keep(kind, new)
        metadata = stored["metadata"]
        if metadata.get("deletionTimestamp") and not metadata.get("finalizers"):
            return self._store.remove(kind, write.namespace, name)
        return stored

    async def delete(self, write: Write, options: Json) -> Json:
        """The object when it goes on existing or is a pod, else a `Status` of success."""
        kind = write.kind
        old = self._found(write)
        check_delete_preconditions(kind, write.name, old, options.get("preconditions") or {})
        metadata = old["metadata"]
        grace = grace_of(kind, old, options)
        if not write.evicted:
            # Of a pod that goes at once webhooks are asked before it is marked and before it goes.
            for _ in range(2 if kind == kinds.PODS and not grace else 1):
                await self._admission.mutate(write, "DELETE", None, old)
                await self._admission.validate(write, "DELETE", None, old)
        if self._store.get(kind, write.namespace, write.name) is not old:
            raise conflict(kind, write.name)
        at_once = not grace and not metadata.get("finalizers")
        if at_once and kind != kinds.PODS:
            if not write.dry_run:
                self._gone(kind, write.namespace, write.name)
            return success(kind, old)
        if metadata.get("deletionTimestamp") and not at_once:
            return old
        going = marked(old, grace)
        if write.dry_run:
            return going
        # A pod is marked even when it goes at once: that is two versions and two events.
        stored = self._store.put(kind, going)
        return self._gone(kind, write.namespace, write.name) if at_once else stored

    async def evict(self, write: Write, body: Json, delete: Callable[[], Awaitable[Json]]) -> Json:
        """Delete a pod when its disruption budget has room for it."""
        if (body.get("metadata") or {}).get("name") != write.name:
            raise bad_request("name in URL does not match name in Eviction object")
        pod = self._found(write)
        await self._admission.mutate(write, "CREATE", body, None)
        await self._admission.validate(write, "CREATE", body, None)
        if (pod.get("status") or {}).get("phase") not in ("Pending", "Succeeded", "Failed"):
            budget = budget_for(self._store, pod)
            if budget and not pod["metadata"].get("deletionTimestamp"):
                spent = spend(budget)
                if not write.dry_run:
                    self._store.put(kinds.DISRUPTION_BUDGETS, spent)
        await delete()
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "code": 201,
        }

    def _found(self, write: Write) -> Json:
        old = self._store.get(write.kind, write.namespace, write.name)
        if old is None:
            raise not_found(write.kind, write.name)
        return old

    def _keep(self, kind: Kind, manifest: Json) -> Json:
        if len(json.dumps(manifest, separators=(",", ":"))) > LARGEST_OBJECT:
            raise unexplained("etcdserver: request is too large")
        return self._store.put(kind, manifest)

    def _gone(self, kind: Kind, namespace: str, name: str) -> Json:
        """Its last state."""
        if kind == kinds.NAMESPACES:
            # No namespace controller runs here: what it would do over time happens at once.
            for other in kinds.BUILT_IN:
                for manifest in self._store.all(other):
                    if manifest["metadata"].get("namespace") == name:
                        self._store.remove(other, name, manifest["metadata"]["name"])
        return self._store.remove(kind, namespace, name)

    def _checked(self, write: Write, new: Json) -> Json:
        kind = write.kind
        metadata: Json = new.setdefault("metadata", {})
        said = (new.get("apiVersion", kind.api_version), new.get("kind", kind.kind))
        if said != (kind.api_version, kind.kind):
            raise _another_kind(kind, *said, metadata.get("name", ""))
        new["kind"], new["apiVersion"] = kind.kind, kind.api_version
        if wrong := wrong_shape(metadata):
            what = f'{kind.kind} in version "{kind.api_version}" cannot be handled as a {kind.kind}'
            raise bad_request(f"{what}: {wrong}")
        if write.name and metadata.get("name") != write.name:
            raise bad_request(
                f"the name of the object ({metadata.get('name', '')}) does not match the name on"
                f" the URL ({write.name})"
            )
        if kind.namespaced:
            if metadata.setdefault("namespace", write.namespace) != write.namespace:
                raise bad_request(
                    "the namespace of the provided object does not match the namespace sent on"
                    " the request"
                )
        else:
            metadata.pop("namespace", None)
        return metadata

    def _named(self, kind: Kind, metadata: Json) -> None:
        if not metadata.get("name"):
            if not metadata.get("generateName"):
                why = "Required value: name or generateName is required"
                raise invalid(kind, "", ("FieldValueRequired", "metadata.name", why))
            metadata["name"] = f"{metadata['generateName']}{uuid.uuid4().hex[:5]}"
        check_name(kind, metadata["name"])


def _another_kind(kind: Kind, api_version: str, said: str, name: str) -> ApiError:
    if kind.custom:
        cause = ("FieldValueInvalid", "kind", f'Invalid value: "{said}": must be {kind.kind}')
        return invalid_named(kind.group, said, name, cause)
    return bad_request(
        f'{said} in version "{api_version}" cannot be handled as a {kind.kind}: no kind "{said}" is'
        f' registered for version "{api_version}"'
    )


def _combined(write: Write, old: Json, new: Json) -> Json:
    """What the request may change, laid over what it may not."""
    if write.subresource == "status":
        kept = {"managedFields": new["metadata"].get("managedFields", [])}
        metadata = {**old["metadata"], **kept} if kept["managedFields"] else old["metadata"]
        return {**old, "status": new.get("status", {}), "metadata": dict(metadata)}
    if write.subresource == "resize":
        return {**old, "spec": resized(write.name, old["spec"], new["spec"])}
    metadata = dict(new["metadata"])
    for name in (
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "resourceVersion",
        "namespace",
    ):
        metadata.pop(name, None)
        if name in old["metadata"]:
            metadata[name] = old["metadata"][name]
    combined = {**new, "metadata": metadata}
    if write.kind.status:
        combined.pop("status", None)
        if "status" in old:
            combined["status"] = old["status"]
    return combined


def _check_uid(write: Write, old: Json, new: Json) -> None:
    """Of an update, where another uid is a failed condition; in a patch it is a bad change."""
    if new.get("uid") in (None, "", old.get("uid")):
        return
    kind = write.kind
    parts = [kind.group if kind.custom else "", kind.plural, write.namespace, write.name]
    raise conflict(
        kind,
        write.name,
        f"StorageError: invalid object, Code: 4, Key: /registry/{'/'.join(filter(None, parts))},"
        f" ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition:"
        f" {new['uid']}, UID in object meta: {old.get('uid', '')}",
    )


def _default(kind: Kind, new: Json) -> None:
    """The few defaults that somebody who reads the object relies on."""
    if kind == kinds.PODS:
        new.setdefault("spec", {}).setdefault("terminationGracePeriodSeconds", 30)
    elif kind.registers:
        registering.complete(kind, new)


def _begin(kind: Kind, new: Json) -> None:
    """Give it the state that it begins with."""
    if kind == kinds.PODS:
        new["status"] = {"phase": "Pending"}
    elif kind == kinds.NAMESPACES:
        new["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = new["metadata"][
            "name"
        ]
        new.setdefault("spec", {})["finalizers"] = ["kubernetes"]
        new["status"] = {"phase": "Active"}
    elif kind == kinds.DEFINITIONS:
        conditions = [
            {"type": type_, "status": "True", "lastTransitionTime": timestamp(), "reason": reason}
            for type_, reason in (
                ("NamesAccepted", "NoConflicts"),
                ("Established", "InitialNamesAccepted"),
            )
        ]
        names, versions = new["spec"]["names"], [new["spec"]["versions"][0]["name"]]
        new["status"] = {
            "conditions": conditions,
            "acceptedNames": names,
            "storedVersions": versions,
        }


def _specified(manifest: Json) -> Json:
    return {key: manifest[key] for key in manifest if key not in ("metadata", "status")}


def _unchanged(old: Json, new: Json) -> bool:
    """A write that changes nothing makes no version; when an owner last wrote is nothing."""

    def essence(manifest: Json) -> Json:
        entries = manifest["metadata"].get("managedFields") or []
        timeless = [{**entry, "time": None} for entry in entries]
        return {**manifest, "metadata": {**manifest["metadata"], "managedFields": timeless}}

    return essence(old) == essence(new)
