"""Names for fields that hold when lists change their order: `containers[name=app].image`.

A path is read from the pod that an object is or makes: `metadata` is the pod's metadata, every
other first word a field of the pod's spec. So the same path means the same manifest in a Pod and in
the template of a Deployment. Only `workload` leads to the object around the template.

    metadata.labels[team]                               a key of people's own choice
    workload.spec.selector.matchLabels[app]             a field of the Deployment itself
    containers[name=app].resources.requests.cpu         an item, by what tells it from the others
    volumes[name="a]b"]                                 text that would end the brackets is quoted
    tolerations[={"key":"gpu"}]                         an item that nothing but all of it tells apart
"""

import functools
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, final

import msgspec

from nemutator_controller.mutations.decisions import Maybe

Json = Any
"""A value of a decoded document. Objects of the API are not decoded into types here, so that fields
that we do not know survive."""

DEEPEST = 32
"""Steps of a path that can be read again."""

LONGEST_ITEM = 1536
"""Characters of an item that is named by all of it. It leaves room for where its list is."""

LONGEST_NAME = 253
"""Characters of an item's name. No API server stores more, but webhooks see what it would refuse."""

WORKLOADS: Mapping[str, tuple[str, str]] = {
    "Deployment": ("apps", "deployments"),
    "StatefulSet": ("apps", "statefulsets"),
    "DaemonSet": ("apps", "daemonsets"),
    "Job": ("batch", "jobs"),
    "CronJob": ("batch", "cronjobs"),
}
"""Kinds of workload whose templates policies may change: group and resource of each, of version v1."""

POD = "Pod"

AROUND = "workload."
"""Begins the paths that lead to a workload itself, and not to its template."""

TEMPLATES: Mapping[str, tuple[str, ...]] = {
    POD: (),
    "Deployment": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "ReplicationController": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}
"""Where the pod is in each kind of object that is a pod or makes one."""

_LONGEST_KEPT = 512
"""Characters of a text that is kept with its path."""

_MOST_KEPT = 1024

PLAIN = re.compile(r'[^\[\]="\\\x00-\x1f\x7f]+')
_NOTHING = object()


class PathError(ValueError):
    """The text is not a path, or the object is not shaped as the path says."""


# Structs, not dataclasses: every pod that is changed makes, compares and looks up a hundred paths.
# They are final because isinstance() takes three times as long to deny that a struct is of a type.
@final
class FieldStep(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A field that the API declares."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@final
class KeyStep(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A key of a map, which people choose."""

    name: str

    def __str__(self) -> str:
        return f"[{_quoted(self.name)}]"


@final
class ItemStep(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """The first item of a list in which the field *by* is *value*.

    Without *by* the whole item is *value*, which is JSON then (`whole`).
    """

    by: str
    value: str

    @property
    def name(self) -> str:
        return self.value

    def __str__(self) -> str:
        return f"[{self.by}={_quoted(self.value)}]" if self.by else f"[={self.value}]"


Step = FieldStep | KeyStep | ItemStep

SWITCHED = ("MutationPolicy", "SizingPolicy", "SeasonPolicy")
"""Kinds of policies whose switches the journal keeps, as changes of their metadata."""

AUTOSCALER = "HorizontalPodAutoscaler"
"""Whose minimum forecasts raise."""

UNIT = "SystemdUnit"
"""A unit of systemd, as the journal keeps it: its spec is the drop-in that we have written."""

NODE = "Node"
"""A node, as the journal keeps it: its metadata alone."""

_ROOTS: Mapping[str, tuple[tuple[Step, ...], tuple[Step, ...]]] = {
    kind: (tuple(map(FieldStep, template)), tuple(map(FieldStep, (*template, "spec"))))
    for kind, template in (
        *TEMPLATES.items(),
        *((kind, ()) for kind in (*SWITCHED, AUTOSCALER, UNIT, NODE)),
    )
}
"""By kind, the steps to the metadata of its pod, and those to its spec."""

_METADATA, _LABELS, _ANNOTATIONS = map(FieldStep, ("metadata", "labels", "annotations"))
_WORKLOAD = FieldStep("workload")
_SPEC = FieldStep("spec")


class Path(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        text = TEXTS.get(self)
        if text is None:
            # Most steps are fields, for which a call would take longer than the rest.
            text = "".join(
                f".{step.name}" if type(step) is FieldStep else str(step) for step in self.steps
            ).removeprefix(".")
            # Long ones are a stranger's, and there may be many of them: they are not kept.
            if len(text) <= _LONGEST_KEPT and len(self.steps) <= DEEPEST:
                if len(TEXTS) >= _MOST_KEPT:
                    TEXTS.clear()
                    WRITTEN.clear()
                TEXTS[self] = text
                WRITTEN[text] = self
        return text

    def __truediv__(self, step: Step | str) -> "Path":
        """*step*, or the field of that name, within what this path leads to."""
        return Path((*self.steps, FieldStep(step) if isinstance(step, str) else step))


TEXTS: dict[Path, str] = {}
"""Of paths that were written not long ago."""

WRITTEN: dict[str, Path] = {}
"""By these texts, the paths: most texts that are read were written a moment before."""


@functools.lru_cache(maxsize=1024)
def field_path(*fields: str) -> Path:
    return Path(tuple(map(FieldStep, fields)))


def label(key: str) -> Path:
    return (
        _in_metadata(_LABELS, key)
        if len(key) <= _LONGEST_KEPT
        else _in_metadata.__wrapped__(_LABELS, key)
    )


def annotation(key: str) -> Path:
    # As plain text: otherwise the declared word itself would be a key of the object that is written.
    key = str(key)
    return (
        _in_metadata(_ANNOTATIONS, key)
        if len(key) <= _LONGEST_KEPT
        else _in_metadata.__wrapped__(_ANNOTATIONS, key)
    )


@functools.lru_cache(maxsize=1024)
def _in_metadata(texts: FieldStep, key: str) -> Path:
    return Path((_METADATA, texts, KeyStep(key)))


@functools.lru_cache(maxsize=1024)
def named(field: str, name: str) -> Path:
    """The item called *name* in the list *field* of the spec."""
    if len(name) > LONGEST_NAME:
        # Otherwise the caches of paths would grow by megabytes with each pod of a stranger.
        raise PathError(f"{field}[name={name[:40]}…]: longer than {LONGEST_NAME} characters")
    return Path((FieldStep(field), ItemStep("name", name)))


def whole(field: Path, item: Json) -> Path:
    """The item of the list *field* that is *item*, for lists whose items have no names."""
    text = canonical(item)
    if len(text) > LONGEST_ITEM:
        raise PathError(f"{field}[={text[:40]}…]: longer than {LONGEST_ITEM} characters")
    return field / ItemStep("", text)


def steps_in(kind: str, path: Path) -> tuple[Step, ...]:
    """The steps of *path* from the object itself."""
    steps = path.steps
    first = steps[0]
    if first == _WORKLOAD:
        return _steps_around(kind, path)
    try:
        of_metadata, of_spec = _ROOTS[kind]
    except KeyError:
        raise PathError(f"{kind}: expected one of {', '.join(TEMPLATES)}") from None
    return (of_metadata if first == _METADATA else of_spec) + steps


def template_of(manifest: Json, kind: str) -> Json:
    """The pod that *manifest* is or makes; None when it has none."""
    found: Json = manifest
    for name in TEMPLATES[kind]:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _steps_around(kind: str, path: Path) -> tuple[Step, ...]:
    if not TEMPLATES.get(kind):
        raise PathError(f"{path}: a {kind} has no template, and nothing around it")
    if len(path.steps) == 1:
        raise PathError(f"{path}: expected the name of a field after it")
    return path.steps[1:]


def value_at(manifest: Json, path: Path, kind: str) -> Maybe:
    """The one value that *path* names in *manifest*, or none."""
    found = manifest
    if kind == POD and path.steps[0] != _WORKLOAD:
        steps = path.steps
        if steps[0] != _METADATA:
            if found is None:
                return ()
            if type(found) is not dict:
                raise _not_around(_SPEC, found)
            found = found.get("spec")
    else:
        steps = steps_in(kind, path)
    for step in steps:
        # As `member` does, but without a call: nothing here runs as often as this.
        if type(step) is ItemStep:
            index = index_of(found, step)
            if index is None:
                return ()
            found = found[index]
        elif found is None:
            return ()
        else:
            if type(found) is not dict:
                raise _not_around(step, found)
            found = found.get(step.name, _NOTHING)
            if found is _NOTHING:
                return ()
    return (found,)


def pointer_to(manifest: Json, path: Path, kind: str) -> str | None:
    """The JSON Pointer (RFC 6901) to *path* in *manifest*; None when nothing is there."""
    return pointer_along(manifest, steps_in(kind, path))


def pointer_along(manifest: Json, steps: Iterable[Step]) -> str | None:
    """The same for *steps* from *manifest*."""
    found, pointer = manifest, ""
    for step in steps:
        entered = enter(found, step)
        if entered is None:
            return None
        part, found = entered
        pointer += part
    return pointer


def member(container: Json, step: Step) -> Maybe:
    """What *step* leads to from *container*; `null` holds nothing."""
    entered = enter(container, step)
    return () if entered is None else (entered[1],)


def enter(container: Json, step: Step) -> tuple[str, Json] | None:
    """The part of a JSON Pointer for *step*, with its slash, and what it leads to."""
    if type(step) is ItemStep:
        index = index_of(container, step)
        return None if index is None else (f"/{index}", container[index])
    if container is None:
        return None
    if not isinstance(container, dict):
        raise _not_around(step, container)
    return (escaped(step.name), container[step.name]) if step.name in container else None


def index_of(container: Json, item: ItemStep) -> int | None:
    if container is None:
        return None
    if type(container) is not list:
        raise _not_around(item, container)
    by, value = item.by, item.value
    if not by:
        wanted = item_of(value)
        for index, entry in enumerate(container):
            # The first comparison is fast; the second one knows that `true` is not 1.
            if entry == wanted and canonical(entry) == value:
                return index
        return None
    for index, entry in enumerate(container):
        if type(entry) is dict and entry.get(by) == value:
            return index
    return None


@functools.lru_cache(maxsize=1024)
def item_of(text: str) -> Json:
    """The item that a step without a name is about. It is shared: nobody may write into it."""
    return json.loads(text)


def escaped(name: str) -> str:
    """*name* as a part of a JSON Pointer, with its slash."""
    if "~" not in name and "/" not in name:
        return f"/{name}"
    # In this order: otherwise the second would escape what the first has written.
    return "/" + name.replace("~", "~0").replace("/", "~1")


def canonical(item: Json) -> str:
    return json.dumps(item, sort_keys=True, separators=(",", ":"))


def _quoted(text: str) -> str:
    return text if PLAIN.fullmatch(text) else json.dumps(text)


def _not_around(step: Step, found: Json) -> PathError:
    wanted = "a list" if type(step) is ItemStep else "an object"
    return PathError(f"{step}: expected {wanted} around it, found {_kind_of(found)}")


def _kind_of(value: Json) -> str:
    return {list: "a list", dict: "an object", str: "text", bool: "true or false"}.get(
        type(value), "a number"
    )
