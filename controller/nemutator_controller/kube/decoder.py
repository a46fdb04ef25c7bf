"""From the API server's bytes to objects and events, one bad object at a time.

Almost all bytes take the fast way: one pass, straight into the shape. What does not decode takes
the slow way, which finds out what is wrong with which object and hands over all the others.
"""

import re
from typing import Generic, TypeVar

import msgspec

from nemutator_controller.kube.failures import Status
from nemutator_controller.kube.lines import Lines
from nemutator_controller.kube.objects import Object

T = TypeVar("T", bound=Object)

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class NotAListError(Exception):
    """What came is not a list of Kubernetes; it must never be taken for an empty one."""


class Added(msgspec.Struct, Generic[T], frozen=True, gc=False, tag="ADDED", tag_field="type"):
    object: T


class Modified(msgspec.Struct, Generic[T], frozen=True, gc=False, tag="MODIFIED", tag_field="type"):
    object: T


class Deleted(msgspec.Struct, frozen=True, gc=False, tag="DELETED", tag_field="type"):
    object: Object
    """Its metadata suffices, so an object that does not decode can still be deleted."""


class BookmarkMetadata(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str
    annotations: dict[str, str] = {}


class BookmarkObject(msgspec.Struct, frozen=True):
    metadata: BookmarkMetadata


class Bookmark(msgspec.Struct, frozen=True, tag="BOOKMARK", tag_field="type"):
    object: BookmarkObject

    @property
    def ends_initial_events(self) -> bool:
        return self.object.metadata.annotations.get(INITIAL_EVENTS_END) == "true"


class Failed(msgspec.Struct, frozen=True, tag="ERROR", tag_field="type"):
    object: Status


class Undecodable(msgspec.Struct, frozen=True):
    """An object that we cannot read, as far as it can be named."""

    key: str | None
    resource_version: str
    why: str


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Part of a list."""

    items: tuple[T, ...]
    undecodable: tuple[Undecodable, ...]
    resource_version: str
    next: str
    """Token for the page after this one; empty after the last."""


class _ListMetadata(
    msgspec.Struct, rename={"next": "continue", "resource_version": "resourceVersion"}
):
    resource_version: str = ""
    next: str = ""


class _List(msgspec.Struct, Generic[T]):
    kind: str
    metadata: _ListMetadata
    items: tuple[T, ...]


class _RawList(msgspec.Struct):
    kind: str
    metadata: _ListMetadata
    items: tuple[msgspec.Raw, ...] | None
    """Go encodes a list that nobody made as null."""


class _LooseMetadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _Loose(msgspec.Struct):
    metadata: _LooseMetadata


class _LooseEvent(msgspec.Struct):
    object: _Loose


Event = Added[T] | Modified[T] | Deleted | Bookmark | Failed | Undecodable

_RAW_LIST = msgspec.json.Decoder(_RawList)
_LOOSE = msgspec.json.Decoder(_Loose)
_LOOSE_EVENT = msgspec.json.Decoder(_LooseEvent)

# Go writes a struct's fields in their order: name, namespace and version come before anything long.
_NAME = re.compile(rb'"metadata":\{"name":"([^"]{1,253})"')
_NAMESPACE = re.compile(rb'^[^}]{0,1000}?"namespace":"([^"]{1,63})"')


class Decoder(Generic[T]):
    """Decodes lists and watch events of one shape."""

    def __init__(self, shape: type[T]) -> None:
        # mypy cannot follow a type that is a value; msgspec needs exactly that.
        list_shape = _List[shape]  # type: ignore[valid-type]
        event_shape = Added[shape] | Modified[shape] | Deleted | Bookmark | Failed  # type: ignore[valid-type]
        self._object: msgspec.json.Decoder[T] = msgspec.json.Decoder(shape)
        self._list: msgspec.json.Decoder[_List[T]] = msgspec.json.Decoder(list_shape)
        self._event: msgspec.json.Decoder[Event[T]] = msgspec.json.Decoder(event_shape)

    def object(self, body: bytes) -> T:
        """One object; raises `msgspec.DecodeError`."""
        return self._object.decode(body)

    def page(self, body: bytes) -> Page[T]:
        """One page of a list; raises `NotAListError`."""
        try:
            page = self._list.decode(body)
        except msgspec.DecodeError:
            return self._page_slowly(body)
        _must_be_a_list(page.kind)
        return Page(page.items, (), page.metadata.resource_version, page.metadata.next)

    def events(self, lines: Lines) -> list[Event[T]]:
        """Lines of a watch. What cannot be read is an `Undecodable`, never an exception."""
        try:
            return self._event.decode_lines(lines)
        except (msgspec.DecodeError, RecursionError):
            return [self._one(line) for line in bytes(lines).split(b"\n") if line.strip()]

    def _one(self, line: bytes) -> Event[T]:
        try:
            return self._event.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            why = _shortened(error)
        try:
            metadata = _LOOSE_EVENT.decode(line).object.metadata
        except (msgspec.DecodeError, RecursionError):
            return Undecodable(_key_in_beginning(line), "", why)
        return _undecodable(metadata, why)

    def _page_slowly(self, body: bytes) -> Page[T]:
        try:
            raw = _RAW_LIST.decode(body)
        except msgspec.DecodeError as error:
            raise NotAListError(_shortened(error)) from None
        _must_be_a_list(raw.kind)
        items: list[T] = []
        undecodable: list[Undecodable] = []
        for item in raw.items or ():
            try:
                items.append(self._object.decode(item))
            except (msgspec.DecodeError, RecursionError) as error:
                undecodable.append(_named(item, _shortened(error)))
        metadata = raw.metadata
        return Page(tuple(items), tuple(undecodable), metadata.resource_version, metadata.next)


def _must_be_a_list(kind: str) -> None:
    if not kind.endswith("List"):
        raise NotAListError(f"expected a list, not kind {kind[:100]!r}")


def _named(item: msgspec.Raw, why: str) -> Undecodable:
    try:
        return _undecodable(_LOOSE.decode(item).metadata, why)
    except (msgspec.DecodeError, RecursionError):
        return Undecodable(None, "", why)


def _undecodable(metadata: _LooseMetadata, why: str) -> Undecodable:
    key = f"{metadata.namespace}/{metadata.name}" if metadata.name else None
    return Undecodable(key, metadata.resource_version, why)


def _key_in_beginning(line: bytes) -> str | None:
    """The key of an object of which only the beginning is there."""
    name = _NAME.search(line, 0, 4096)
    if name is None:
        return None
    namespace = _NAMESPACE.match(line[name.end() : name.end() + 2000])
    parts = (namespace.group(1) if namespace else b"", name.group(1))
    return "/".join(part.decode(errors="replace") for part in parts)


def _shortened(error: Exception) -> str:
    """msgspec's messages name types and places, never values."""
    return str(error)[:200]
