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
        if type(pointer) is not str or pointer[:1] != "/":
            raise PatchError(f"{str(pointer)[:80]!r}: expected a JSON Pointer into the object")
        way, _, last = pointer.rpartition("/")
        if "~" in last:
            last = _plain(last)
        container: Json = self._around.get(way)
        if op == "test":
            if container is None:
                container = self._read(way, pointer)
            if not same(container[_key(container, last, pointer)], value):
                raise PatchError(f"{pointer}: test failed")
            return
        if container is None:
            container = self._entered(way, pointer)
        if type(container) is dict:
            if type(container.get(last, "")) is not str:
                self._around.clear()
            if op == "add" or (op == "replace" and last in container):
                container[last] = value
                return
        elif last != "-" or type(container) is not list:
            self._around.clear()
        if op == "add":
            _add(container, last, value, pointer)
        elif op == "replace":
            container[_key(container, last, pointer)] = value
        else:
            self._around.clear()
            del container[_key(container, last, pointer)]

    def _read(self, way: str, pointer: str) -> Json:
        """What is at *way*, for who writes nothing into it."""
        found = self._holder[0]
        for part in way[1:].split("/") if way else ():
            found = found[_key(found, _plain(part), pointer)]
        return found

    def _entered(self, way: str, pointer: str) -> Json:
        """Our own copy of what is at *way*."""
        around, ours = self._around, self._ours
        known, parts = way, []
        while (container := around.get(known)) is None and known:
            known, _, part = known.rpartition("/")
            parts.append(part)
        if container is None:
            container = around[""] = self._own(self._holder, 0)
        while parts:
            part = parts.pop()
            known = f"{known}/{part}"
            key: int | str = part if "~" not in part else _plain(part)
            if type(container) is not dict or key not in container:
                key = _key(container, str(key), pointer)
            held = container[key]
            container = around[known] = held if id(held) in ours else self._own(container, key)
        return container

    def _own(self, around: Json, key: int | str) -> Json:
        """What *around* holds at *key* is not ours yet."""
        held = around[key]
        if type(held) is not dict and type(held) is not list:
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
    if type(container) is dict:
        if part not in container:
            raise PatchError(f"{pointer}: there is no {part!r}")
        return part
    if type(container) is list:
        return _index(part, len(container) - 1, pointer)
    raise PatchError(f"{pointer}: there is nothing to hold {part!r}")


def _index(name: str, last: int, pointer: str) -> int:
    # ASCII digits without sign or leading zero, as RFC 6901 says; int() accepts more.
    if not (name.isascii() and name.isdigit()) or (name[0] == "0" and name != "0"):
        raise PatchError(f"{pointer}: {name[:40]!r} is not an index")
    if len(name) > 9 or int(name) > last:
        raise PatchError(f"{pointer}: {name[:40]} is beyond the list")
    return int(name)


def _plain(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~") if "~" in part else part
