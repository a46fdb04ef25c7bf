"""Names for fields that hold when lists change their order: `containers[name=app].image`.

A path is read from the pod that an object is or makes: `metadata` is the pod's metadata, every
other first word a field of the pod's spec. So the same path means the same manifest in a Pod and in
the template of a Deployment.

    metadata.labels[team]                               a key of people's own choice
    containers[name=app].resources.requests.cpu         an item, by what tells it from the others
    volumes[name="a]b"]                                 text that would end the brackets is quoted
"""

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, final

import msgspec

from nemutator_controller.mutations.decisions import Maybe

Json = Any
"""A value of a decoded document. Objects of the API are never decoded into types of ours here:
what we do not know must survive."""

LONGEST = 2048
"""Characters. A label's key has at most 317."""

DEEPEST = 32

LONGEST_NAME = 253
"""Of an item. No API server stores a longer one, but webhooks see what it would refuse."""

TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "Pod": (),
    "Deployment": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}
"""Where the pod is in each kind that is one or makes one."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_PLAIN = re.compile(r'[^\[\]="\\\x00-\x1f\x7f]+')
_STRING = json.JSONDecoder()


class PathError(ValueError):
    """The text is no path, or the object is not shaped as the path says."""


# Structs, not dataclasses: every pod that is changed makes, compares and looks up a hundred paths.
# And final: isinstance() takes three times as long to say that a struct is not of a type.
@final
class FieldStep(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A field that the API declares."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@final
class KeyStep(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A key of a map, chosen by people."""

    name: str

    def __str__(self) -> str:
        return f"[{_quoted(self.name)}]"


@final
class ItemStep(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """The first item of a list whose field *by* is *value*."""

    by: str
    value: str

    def __str__(self) -> str:
        return f"[{self.by}={_quoted(self.value)}]"


Step = FieldStep | KeyStep | ItemStep

_METADATA, _SPEC = FieldStep("metadata"), FieldStep("spec")
_LABELS, _ANNOTATIONS = FieldStep("labels"), FieldStep("annotations")


class Path(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return _text_of(self)

    def __truediv__(self, step: Step) -> "Path":
        return Path((*self.steps, step))


def label(key: str) -> Path:
    return Path((_METADATA, _LABELS, KeyStep(key)))


def annotation(key: str) -> Path:
    # Plain text: a declared word would get into the documents that are written, as their key.
    return Path((_METADATA, _ANNOTATIONS, KeyStep(str(key))))


def named(field: str, name: str) -> Path:
    """The item of the list *field* of the spec that is called *name*."""
    if len(name) > LONGEST_NAME:
        # What is remembered of paths would otherwise grow by megabytes with each stranger's pod.
        raise PathError(f"{field}[name={name[:40]}…]: longer than {LONGEST_NAME} characters")
    return Path((FieldStep(field), ItemStep("name", name)))


def template_root(kind: str) -> tuple[str, ...]:
    """The names on the way to the pod in an object of *kind*."""
    try:
        return TEMPLATES[kind]
    except KeyError:
        raise PathError(f"{kind}: expected one of {', '.join(TEMPLATES)}") from None


def spec_root(kind: str) -> str:
    """Where the pod's spec is, as people write it: `spec.template.spec`."""
    return ".".join((*template_root(kind), "spec"))


@functools.lru_cache(maxsize=1024)
def parse_path(text: str) -> Path:
    """Read what `str()` of a path writes."""
    if len(text) > LONGEST:
        raise PathError(f"{text[:40]!r}…: longer than {LONGEST} characters")
    steps = tuple(_steps(text))
    if len(steps) > DEEPEST:
        raise PathError(f"{text[:40]!r}…: deeper than {DEEPEST}")
    return Path(steps)


@functools.lru_cache(maxsize=1024)
def _text_of(path: Path) -> str:
    return "".join(map(str, path.steps)).removeprefix(".")


@functools.cache
def _steps_to_pod(kind: str) -> tuple[Step, ...]:
    return tuple(FieldStep(name) for name in template_root(kind))


@functools.cache
def _steps_to_spec(kind: str) -> tuple[Step, ...]:
    return (*_steps_to_pod(kind), _SPEC)


def steps_in(kind: str, path: Path) -> tuple[Step, ...]:
    """The steps of *path* from the object itself."""
    steps = path.steps
    return (_steps_to_pod(kind) if steps[0] == _METADATA else _steps_to_spec(kind)) + steps


def value_at(manifest: Json, path: Path, kind: str) -> Maybe:
    """The one value that *path* names in *manifest*, or none."""
    found = manifest
    for step in steps_in(kind, path):
        # As `member` would, without a call: nothing is done as often as this.
        if type(step) is ItemStep:
            index = index_of(found, step)
            if index is None:
                return ()
            found = found[index]
        elif type(found) is dict:
            if step.name not in found:
                return ()
            found = found[step.name]
        elif found is None:
            return ()
        else:
            raise _not_around(step, found)
    return (found,)


def pointer_to(manifest: Json, path: Path, kind: str) -> str | None:
    """A JSON Pointer (RFC 6901) to what is there now; None when nothing is."""
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
    """What a JSON Pointer says for *step*, slash included, and what it leads to."""
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
    if not isinstance(container, list):
        raise _not_around(item, container)
    by, value = item.by, item.value
    for index, entry in enumerate(container):
        if isinstance(entry, dict) and entry.get(by) == value:
            return index
    return None


def escaped(name: str) -> str:
    """As a part of a JSON Pointer."""
    if "~" not in name and "/" not in name:
        return f"/{name}"
    # In this order: the other way round would escape what the first has written.
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _steps(text: str) -> Iterator[Step]:
    word = _WORD.match(text)
    if word is None:
        raise PathError(f"{text[:80]!r}: expected the name of a field at its begin")
    yield FieldStep(word[0])
    at = word.end()
    while at < len(text):
        if text[at] == ".":
            word = _WORD.match(text, at + 1)
            if word is None:
                raise _unexpected(text, at + 1, "the name of a field")
            yield FieldStep(word[0])
            at = word.end()
        elif text[at] == "[":
            step, at = _bracketed(text, at + 1)
            yield step
        else:
            raise _unexpected(text, at, "'.' or '['")


def _bracketed(text: str, at: int) -> tuple[Step, int]:
    first, quoted, at = _text(text, at)
    step: Step = KeyStep(first)
    if text[at : at + 1] == "=" and not quoted:
        value, _, at = _text(text, at + 1)
        step = ItemStep(first, value)
    if text[at : at + 1] != "]":
        raise _unexpected(text, at, "']'")
    return step, at + 1


def _text(text: str, at: int) -> tuple[str, bool, int]:
    if text[at : at + 1] == '"':
        try:
            value, end = _STRING.raw_decode(text, at)
        except ValueError:
            raise _unexpected(text, at, "a string in quotes") from None
        return str(value), True, end
    plain = _PLAIN.match(text, at)
    if plain is None:
        raise _unexpected(text, at, "a name")
    return plain[0], False, plain.end()


def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def _unexpected(text: str, at: int, wanted: str) -> PathError:
    return PathError(f"{text[:80]!r}: expected {wanted} at character {at + 1}")


def _not_around(step: Step, found: Json) -> PathError:
    wanted = "a list" if type(step) is ItemStep else "an object"
    return PathError(f"{step}: expected {wanted} around it, found {_kind_of(found)}")


def _kind_of(value: Json) -> str:
    return {list: "a list", dict: "an object", str: "text", bool: "true or false"}.get(
        type(value), "a number"
    )
