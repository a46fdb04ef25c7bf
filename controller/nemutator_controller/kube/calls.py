"""Requests to the API server as values, before anybody sends them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from nemutator_common import names
from nemutator_common.secret import Secret

from nemutator_controller.kube.resources import Resource

JSON: Final = "application/json"
JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
APPLY_PATCH: Final = "application/apply-patch+yaml"
"""JSON is YAML, so what is sent under this name is JSON too."""

_METADATA_LIST: Final = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_METADATA: Final = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


_OURS: Final[Mapping[str, str]] = MappingProxyType({"fieldManager": names.PREFIX})
"""On every write: the server notes which fields are ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request. *asked* names it in words, as the permission that it needs."""

    verb: str
    method: str
    path: str
    asked: str
    query: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes = field(default=b"", repr=False)
    """It is never shown: a TokenReview contains somebody's token."""
    content_type: str = JSON
    accept: str = JSON
    token: Secret | None = None
    """Somebody else's, to be asked as; None: our own."""
    compressed: bool = False
    """Ask for gzip: it pays for lists, while for a watch it costs more CPU than it saves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which objects of a resource are meant: all of them, unless it is narrowed."""

    namespace: str = ""
    labels: str = ""
    fields: str = ""

    @property
    def query(self) -> dict[str, str]:
        both = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {name: value for name, value in both.items() if value}


def asked(verb: str, resource: Resource[Any], namespace: str, subresource: str = "") -> str:
    """`verb resource in namespace`, as a cluster administrator grants it."""
    what = resource.plural + (f".{resource.group}" if resource.group else "")
    what += f"/{subresource}" if subresource else ""
    if not resource.namespaced:
        return f"{verb} {what}"
    return f"{verb} {what} in " + (f"namespace {namespace}" if namespace else "all namespaces")


def getting(resource: Resource[Any], namespace: str, name: str) -> Call:
    return Call(
        verb="get",
        method="GET",
        path=resource.path(namespace, name),
        asked=_about(asked("get", resource, namespace), name),
    )


def page(path: str, *, accept: str = JSON) -> Call:
    """A document that is no object."""
    return Call(verb="get", method="GET", path=path, asked=f"get {path}", accept=accept)


def listing(
    resource: Resource[Any],
    selection: Selection,
    *,
    limit: int,
    after: str = "",
) -> Call:
    """A page of a list."""
    query = {"limit": str(limit), **selection.query}
    if after:
        query["continue"] = after
    return Call(
        verb="list",
        method="GET",
        path=resource.path(selection.namespace),
        asked=asked("list", resource, selection.namespace),
        query=query,
        accept=_METADATA_LIST if resource.metadata_only else JSON,
        compressed=True,
    )


def watching(
    resource: Resource[Any],
    selection: Selection,
    *,
    resource_version: str,
    timeout_s: float,
) -> Call:
    """Changes after *resource_version*; without one, all objects come first (`sendInitialEvents`)."""
    query = {
        "watch": "1",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": str(int(timeout_s)),
        **selection.query,
    }
    if resource_version:
        query["resourceVersion"] = resource_version
    else:
        query["sendInitialEvents"] = "true"
        query["resourceVersionMatch"] = "NotOlderThan"
    return Call(
        verb="watch",
        method="GET",
        path=resource.path(selection.namespace),
        asked=asked("watch", resource, selection.namespace),
        query=query,
        accept=_METADATA if resource.metadata_only else JSON,
    )


def creating(
    resource: Resource[Any], namespace: str, body: bytes, *, name: str = "",
    subresource: str = "",
) -> Call:  # fmt: skip
    return Call(
        verb="create",
        method="POST",
        path=resource.path(namespace, name, subresource),
        asked=_about(asked("create", resource, namespace, subresource), name),
        query=_OURS,
        body=body,
    )


def patching(
    resource: Resource[Any], namespace: str, name: str, body: bytes, *,
    content_type: str, subresource: str = "", force: bool = False, dry_run: bool = False,
) -> Call:  # fmt: skip
    """*force* is for server-side apply: take over fields that others own."""
    query = dict(_OURS)
    if force:
        query["force"] = "true"
    if dry_run:
        query["dryRun"] = "All"
    return Call(
        verb="patch",
        method="PATCH",
        path=resource.path(namespace, name, subresource),
        asked=_about(asked("patch", resource, namespace, subresource), name),
        query=query,
        body=body,
        content_type=content_type,
    )


def _about(permission: str, name: str) -> str:
    return f"{permission} ({name})" if name else permission
