"""Edits as a JSON Patch (RFC 6902), and how we apply one ourselves.

A patch that the API server cannot apply fails the request even when failurePolicy is Ignore. So each
patch is applied here before it is sent, by stricter rules than the server's.
"""

from collections.abc import Iterable, Sequence

from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.edits import same
from nemutator_controller.mutations.object_writes import Writing
from nemutator_controller.mutations.operations import Operation, operation_at
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import (
    ItemStep,
    Json,
    Step,
    escaped,
    item_of,
    pointer_along,
    pointer_to,
    steps_in,
)

MOST = 1_000
"""Operations of one patch. The server accepts ten times that from clients."""


class PatchError(ValueError):
    """The patch cannot be applied."""


def render(manifest: Json, edits: Sequence[Edit], kind: str) -> list[Operation]:
    """The patch that makes of *manifest* what `apply_edits` makes of it.

    At its end it tests that each item that was reached by its index is the one that was meant.
    """
    return render_and_apply(manifest, edits, kind)[0]


def render_and_apply(
    manifest: Json, edits: Sequence[Edit], kind: str
) -> tuple[list[Operation], Json]:
    """The patch, and what `apply_edits` makes, which is a by-product."""
    writing = Writing(manifest, kind)
    for edit in edits:
        writing.write(parse_path(edit.path), edit.after)
    return finished(manifest, writing, edits)


def finished(
    manifest: Json, writing: Writing, edits: Sequence[Edit]
) -> tuple[list[Operation], Json]:
    """The same for *edits* that *writing* has made of *manifest*, in their order."""
    passed = writing.passed_items
    if passed is None:
        meant = _meant(manifest, writing.manifest, edits, writing.kind)
    else:
        meant = (
            _test_of(item, pointer)
            for steps, pointer in passed.items()
            if type(item := steps[-1]) is ItemStep
        )
    return [*writing.operations, *meant], writing.manifest


def guards(manifest: Json, edits: Iterable[Edit], kind: str) -> list[Operation]:
    """Operations that test, ahead of a patch, that *manifest* still has what the edits found there.

    A JSON Patch cannot test that nothing is there: for this an update is bound to the object's
    resourceVersion.
    """
    return [
        operation_at("test", pointer, edit.before[0])
        for edit in edits
        if edit.before
        and (pointer := pointer_to(manifest, parse_path(edit.path), kind)) is not None
    ]


def apply_patch(manifest: Json, operations: Iterable[Operation]) -> Json:
    """*manifest* with the patch applied, or a `PatchError`; *manifest* itself stays as it is."""
    copies = _Copies(manifest)
    for operation in operations:
        try:
            op, pointer = operation["op"], operation["path"]
            if op not in ("add", "replace", "remove", "test"):
                raise PatchError(f"{op!r}: not one of add, replace, remove, test")
            value = None if op == "remove" else operation["value"]
        except KeyError as missing:
            raise PatchError(f"an operation without {missing}") from None
        copies.apply(op, pointer, value)
    return copies.manifest


def _meant(manifest: Json, now: Json, edits: Iterable[Edit], kind: str) -> Iterable[Operation]:
    reached: dict[tuple[Step, ...], bool] = {}
    """By the steps to an item, whether it was there before and is there now."""
    for edit in edits:
        if "=" not in edit.path:
            continue  # The text of a path to an item has one.
        steps = steps_in(kind, parse_path(edit.path))
        for at, step in enumerate(steps, 1):
            if type(step) is not ItemStep:
                continue
            reaching = steps[:at]
            if (known := reached.get(reaching)) is None:
                # Items that the patch itself has added or removed need no test.
                was_there = pointer_along(manifest, reaching) is not None
                pointer = pointer_along(now, reaching) if was_there else None
                known = reached[reaching] = pointer is not None
                if pointer is not None:
                    yield _test_of(step, pointer)
            if not known:
                break


def _test_of(item: ItemStep, pointer: str) -> Operation:
    if item.by:
        return operation_at("test", pointer + escaped(item.by), item.value)
    return operation_at("test", pointer, item_of(item.value))


class _Copies:
    """An object that is written into by JSON Pointer; what is on the way is copied once.

    `edits.Writing` copies in the same way and shares no code with it on purpose: each proves the other.
    """

    def __init__(self, manifest: Json) -> None:
        self._holder: list[Json] = [manifest]
        # With the copies themselves, because an id is used again when its owner is gone.
        self._ours: dict[int, Json] = {}
        self._around: dict[str, Json] = {}
        """By pointer: copies of ours, as long as nothing moves them."""

    @property
    def manifest(self) -> Json:
        return self._holder[0]

    def apply(self, op: str, pointer: Json, value: Json) -> None:
        if type(pointer) is not str or not pointer.startswith("/"):
            raise PatchError(f"{str(pointer)[:80]!r}: expected a JSON Pointer into the object")
        way, _, last = pointer.rpartition("/")
        if "~" in last:
            last = last.replace("~1", "/").replace("~0", "~")
        container = self._around.get(way)
        if container is None:
            container = self._entered(way, pointer, reads=op == "test")
        if op == "test":
            if not same(container[_key(container, last, pointer)], value):
                raise PatchError(f"{pointer}: test failed")
            return
        is_text = type(container) is dict and type(container.get(last, "")) is str
        if not is_text and (last != "-" or type(container) is not list):
            self._around.clear()
        if op == "add":
            _add(container, last, value, pointer)
        elif op == "replace":
            container[_key(container, last, pointer)] = value
        else:
            self._around.clear()
            del container[_key(container, last, pointer)]

    def _entered(self, way: str, pointer: str, *, reads: bool) -> Json:
        """What is at *way*: our own copy, but for who only *reads* it."""
        around: Json = self._holder
        key: int | str = 0
        ours = self._ours
        for part in _parts(way) if way else ():
            held = around[key]
            around = held if reads or id(held) in ours else self._own(around, key)
            key = part if type(around) is dict and part in around else _key(around, part, pointer)
        if reads:
            return around[key]
        container = self._around[way] = self._own(around, key)
        return container

    def _own(self, around: Json, key: int | str) -> Json:
        held = around[key]
        if id(held) in self._ours or not isinstance(held, dict | list):
            return held
        copy = around[key] = held.copy()
        self._ours[id(copy)] = copy
        return copy


def _add(container: Json, part: str, value: Json, pointer: str) -> None:
    if isinstance(container, dict):
        container[part] = value
    elif isinstance(container, list):
        last = len(container)
        container.insert(last if part == "-" else _index(part, last, pointer), value)
    else:
        raise PatchError(f"{pointer}: there is nothing to hold {part!r}")


def _key(container: Json, part: str, pointer: str) -> int | str:
    """The key of *part* in *container*, which must have it."""
    if isinstance(container, dict):
        if part not in container:
            raise PatchError(f"{pointer}: there is no {part!r}")
        return part
    if isinstance(container, list):
        return _index(part, len(container) - 1, pointer)
    raise PatchError(f"{pointer}: there is nothing to hold {part!r}")


def _index(name: str, last: int, pointer: str) -> int:
    # ASCII digits without sign or leading zero, as RFC 6901 says; int() accepts more.
    if not (name.isascii() and name.isdigit()) or (name[0] == "0" and name != "0"):
        raise PatchError(f"{pointer}: {name[:40]!r} is not an index")
    if len(name) > 9 or int(name) > last:
        raise PatchError(f"{pointer}: {name[:40]} is beyond the list")
    return int(name)


def _parts(pointer: str) -> list[str]:
    parts = pointer[1:].split("/")
    if "~" not in pointer:
        return parts
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]
