"""Which objects a request is about, and how much of each it wants to see."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nemutator_controller.kube.label_selectors import Selector, SelectorError, parse_selector

from tests.fakes.kube.kinds import EVENTS, PODS, Kind
from tests.fakes.kube.statuses import bad_request, not_acceptable, only_acceptable

Json = dict[str, Any]

_EVERYWHERE = ("metadata.name", "metadata.namespace")
_FIELDS = {
    PODS: ("spec.nodeName", "spec.serviceAccountName", "status.phase", "status.podIP"),
    EVENTS: ("involvedObject.kind", "involvedObject.name", "involvedObject.uid", "reason", "type"),
}


@dataclass(frozen=True, slots=True)
class Selection:
    """The namespace ("" for all) and selectors of a list or watch."""

    namespace: str
    labels: Selector
    fields: tuple[tuple[str, bool, str], ...]

    def takes(self, manifest: Json) -> bool:
        metadata = manifest["metadata"]
        return (
            self.namespace in ("", metadata.get("namespace", ""))
            and self.labels.matches(metadata.get("labels") or {})
            and all((_field(manifest, path) == value) is same for path, same, value in self.fields)
        )

    @property
    def selective(self) -> bool:
        return bool(self.labels.requirements or self.fields)


def selection(kind: Kind, namespace: str, query: Mapping[str, str]) -> Selection:
    try:
        labels = parse_selector(query.get("labelSelector", ""))
    except SelectorError as error:
        raise bad_request(f"unable to parse requirement: {error}") from error
    return Selection(namespace, labels, _fields(kind, query.get("fieldSelector", "")))


def _fields(kind: Kind, text: str) -> tuple[tuple[str, bool, str], ...]:
    parsed = []
    for term in filter(None, text.split(",")):
        path, operator, value = term.partition("=")
        if not operator:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        same = not path.endswith("!")
        path = path.removesuffix("!")
        if path not in (*_EVERYWHERE, *_FIELDS.get(kind, ())):
            raise bad_request(_unknown_field(kind, path))
        parsed.append((path, same, value.removeprefix("=")))
    return tuple(parsed)


def _unknown_field(kind: Kind, path: str) -> str:
    if kind in _FIELDS or kind.custom:
        return f"field label not supported: {path}"
    known = ", ".join(f'"{name}"' for name in _EVERYWHERE)
    return f'"{path}" is not a known field selector: only {known}'


def _field(manifest: Json, path: str) -> str:
    value: Any = manifest
    for step in path.split("."):
        value = (value or {}).get(step)
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class View:
    """How objects are answered: whole, or only their metadata."""

    metadata_only: bool = False

    def of(self, kind: Kind, manifest: Json) -> Json:
        if not self.metadata_only:
            return {**manifest, "apiVersion": kind.api_version, "kind": kind.kind}
        return {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": manifest["metadata"],
        }

    def list_of(self, kind: Kind, metadata: Json, manifests: list[Json]) -> Json:
        if self.metadata_only:
            head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
            items = [self.of(kind, manifest) for manifest in manifests]
        else:
            # In a list the server leaves kind and apiVersion of built-in kinds out of the items.
            head = {"kind": kind.list_kind, "apiVersion": kind.api_version}
            items = [
                self.of(kind, manifest) if kind.custom else _bare(manifest)
                for manifest in manifests
            ]
        return {**head, "metadata": metadata, "items": items}


def _bare(manifest: Json) -> Json:
    return {key: value for key, value in manifest.items() if key not in ("kind", "apiVersion")}


_MEDIA = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_STREAMED = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
"""What the real one can give; this one gives the first."""


def view(accept: str) -> View:
    """The first of the accepted types that this server can give, as the real one chooses."""
    understood = False
    for offer in accept.split(","):
        media, *parameters = (part.strip() for part in offer.split(";"))
        given = dict(part.partition("=")[::2] for part in parameters)
        if media not in ("", "*/*", "application/*", "application/json"):
            continue
        if "as" not in given:
            return View()
        understood = True
        wanted = (given["as"].removesuffix("List"), given.get("g"), given.get("v"))
        if wanted == ("PartialObjectMetadata", "meta.k8s.io", "v1"):
            return View(metadata_only=True)
    raise only_acceptable(*_MEDIA) if understood else not_acceptable(*_MEDIA, *_STREAMED)


class NotAVersionError(Exception):
    """What was given as a resource version is no number, in Go's words."""


def version_of(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise NotAVersionError(
            f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}":'
            " invalid syntax"
        )
    return int(text)
