"""Writes into an object of the API by paths, and notes each change as an operation of a patch."""

from collections.abc import Mapping, Sequence
from typing import Literal

from nemutator_controller.mutations.decisions import Maybe
from nemutator_controller.mutations.operations import Operation, operation_at
from nemutator_controller.mutations.paths import (
    FieldStep,
    ItemStep,
    Json,
    KeyStep,
    Path,
    PathError,
    Step,
    escaped,
    field_path,
    index_of,
    member,
    pointer_along,
    steps_in,
    value_at,
)

FIRST = frozenset({"initContainers"})
"""Lists in which our items go first. Init containers run in their order, and the others may wait for
what ours fetches."""

DERIVED: Mapping[Path, tuple[Path, ...]] = {
    field_path("priorityClassName"): (field_path("priority"), field_path("preemptionPolicy")),
    field_path("runtimeClassName"): (field_path("overhead"),),
}
"""Fields that the API server fills in from another one. When that one changes they are removed: a pod
whose number or overhead is not that of its class is refused."""

_KEPT_EMPTY = frozenset(
    {FieldStep("metadata"), FieldStep("spec"), FieldStep("template"), FieldStep("emptyDir")}
)
"""Also `emptyDir`, whose presence says what a volume is."""


_ANY_KEY = KeyStep("")


def place_of_new(steps: Sequence[Step], items: Sequence[Json]) -> int:
    """The index at which a new item goes among *items*, when *steps* lead to it."""
    around = steps[-2]
    return 0 if isinstance(around, FieldStep) and around.name in FIRST else len(items)


def emptied(manifest: Json, steps: Sequence[Step]) -> int:
    """How many of *steps* lead to what should be removed when the last one is.

    A map or list is removed with its last member, up to the item that it is in: to Kubernetes an
    empty map is the same as none.
    """
    containers = [manifest]
    for step in steps[:-1]:
        containers += member(containers[-1], step)
    depth = len(steps)
    while depth > 1 and len(containers[depth - 1]) == 1 and not _stays(steps[: depth - 1]):
        depth -= 1
    return depth


def _stays(steps: Sequence[Step]) -> bool:
    """Whether what *steps* lead to stays when it is empty: one of `_KEPT_EMPTY`, an item."""
    last = steps[-1]
    return isinstance(last, ItemStep) or last in _KEPT_EMPTY


class Writing:
    """Writes into copies, and notes each change as an operation. A copy of ours is not copied again."""

    def __init__(self, manifest: Json, kind: str) -> None:
        self.kind = kind
        self.operations: list[Operation] = []
        self._holder: dict[str, Json] = {"": manifest}
        # With the copies themselves, because an id is used again when its owner is gone.
        self._ours: dict[int, Json] = {}
        self._opened: dict[tuple[Step, ...], tuple[Json, str]] = {}
        """By the steps of paths: copies of ours that were written into, and where they are. Most writes are
        about members of the same few maps, whose way is gone once. Forgotten when a place may have changed."""
        self._passed: dict[tuple[Step, ...], str] = {}
        """By the steps to items of the original, the pointer by which a write has gone through them."""
        self._added: set[tuple[Step, ...]] = set()
        """The steps to what was added here: no item in it is one of the original."""
        self._stands_still = True
        """Whether every item that was passed is still where it was."""

    @property
    def manifest(self) -> Json:
        return self._holder[""]

    @property
    def passed_items(self) -> Mapping[tuple[Step, ...], str] | None:
        """Of each item of the original through which a way led, by its steps, the pointer; None: some may be
        somewhere else by now, or gone."""
        return self._passed if self._stands_still else None

    def value(self, path: Path) -> Maybe:
        """As `value_at` finds it in the object as it is now."""
        steps = path.steps
        opened = self._opened.get(steps[:-1])
        if opened is None:
            return value_at(self._holder[""], path, self.kind)
        around, step = opened[0], steps[-1]
        if type(step) is ItemStep:
            index = index_of(around, step)
            return () if index is None else (around[index],)
        if type(around) is not dict:
            return member(around, step)  # raises
        return (around[step.name],) if step.name in around else ()

    def opened(self, path: Path) -> tuple[Json, str]:
        """Our own copy of the map at *path*, which is there, and the pointer to it: for who writes texts into it that
        are in the place of texts, or new, and notes the operations."""
        opened = self._opened.get(path.steps)
        if opened is not None:
            return opened
        around, pointer, missing = self._walked(steps_in(self.kind, path), _ANY_KEY, path.steps)
        assert not missing, "the map is there"
        return around, pointer

    def write(self, path: Path, value: Maybe) -> None:
        for derived in DERIVED.get(path, ()):
            self.write(derived, ())
        if value:
            around = path.steps[:-1]
            opened = self._opened.get(around)
            if opened is not None:
                self._set_in(*opened, steps_in(self.kind, path), value[0])
            else:
                self._set(steps_in(self.kind, path), value[0], around)
            return
        self._stands_still = False
        if self.value(path):
            steps = steps_in(self.kind, path)
            self._remove(steps[: emptied(self.manifest, steps)])

    def _set(self, steps: tuple[Step, ...], value: Json, opens: tuple[Step, ...]) -> None:
        """*opens*: by what is around the last step will be found again."""
        around, pointer, missing = self._walked(steps[:-1], steps[-1], opens)
        if not missing:
            self._set_in(around, pointer, steps, value)
            return
        # With the new parents through which the other steps lead to it.
        self._added.add(steps[:missing])
        added = operation_at("add", pointer, value, steps[missing:])
        self.operations.append(added)
        around[steps[missing - 1].name] = added["value"]

    def _walked(
        self, way: tuple[Step, ...], inside: Step, opens: tuple[Step, ...]
    ) -> tuple[Json, str, int]:
        """Our own copy of what is at the end of *way*, the pointer to it, and 0. Where it is not there: what would
        hold the first that is missing, the pointer to that one, and how many steps lead there."""
        around: Json = self._holder
        key: int | str = ""
        pointer = ""
        ours = self._ours
        for at, step in enumerate(way, start=1):
            # What holds it, as our own copy.
            held = around.get(key) if type(around) is dict else around[key]
            around = held if id(held) in ours else self.own(around, key, step)
            if type(step) is ItemStep:
                index = index_of(around, step)
                if index is None:
                    raise PathError(f"{step}: there is no such item")
                key = index
                pointer = f"{pointer}/{index}"
                self._pass(way[:at], pointer)
            else:
                key = step.name
                pointer += escaped(key)
                if around.get(key) is None:
                    return around, pointer, at
        held = around.get(key) if type(around) is dict else around[key]
        around = held if id(held) in ours else self.own(around, key, inside)
        self._opened[opens] = around, pointer
        return around, pointer, 0

    def _set_in(self, around: Json, pointer: str, steps: tuple[Step, ...], value: Json) -> None:
        """What the last of *steps* leads to from *around*, our own copy of what is at *pointer*."""
        step = steps[-1]
        if type(step) is ItemStep:
            index = index_of(around, step)
            if index is None:
                self._added.add(steps)
                index = place_of_new(steps, around)
                if index == len(around):
                    self.operations.append(operation_at("add", f"{pointer}/-", value))
                else:
                    self._opened.clear()
                    self._stands_still = False
                    self.operations.append(operation_at("add", f"{pointer}/{index}", value))
                around.insert(index, value)
                return
            key: int | str = index
            pointer = f"{pointer}/{index}"
            self._pass(steps, pointer)
            before = around[index]
        else:
            if type(around) is not dict:
                member(around, step)  # raises
            key = step.name
            pointer += escaped(key)
            before = around.get(key)
        if before is None and (type(value) is dict or type(value) is list):
            self._added.add(steps)
        if type(before) is dict or type(before) is list:
            self._opened.clear()
            self._stands_still = False
        # Not every server can "replace" a field that is null; all can "add" it, which replaces it.
        op: Literal["add", "replace"] = "add" if before is None else "replace"
        self.operations.append(operation_at(op, pointer, value))
        around[key] = value

    def _pass(self, steps: tuple[Step, ...], pointer: str) -> None:
        """Note the item to which *steps* have led, unless it is in something that was added here."""
        if steps not in self._passed and not (
            self._added and any(steps[:depth] in self._added for depth in range(1, len(steps) + 1))
        ):
            self._passed[steps] = pointer

    def _remove(self, steps: Sequence[Step]) -> None:
        self._opened.clear()
        self.operations.append({"op": "remove", "path": pointer_along(self.manifest, steps)})
        held: Json = self._holder
        key: Json = ""
        for step in steps:
            held = self.own(held, key, step)
            key = key_of(held, step)
        del held[key]

    def own(self, around: Json, key: Json, inside: Step) -> Json:
        """Our own copy of what *around* holds at *key*, for a change of what *inside* leads to."""
        # A map may lack the key; the index of a list has just been looked up.
        held = around.get(key) if type(around) is dict else around[key]
        if id(held) in self._ours:
            return held
        if held is None:
            copy: Json = [] if type(inside) is ItemStep else {}
        else:
            if type(held) is not (list if type(inside) is ItemStep else dict):
                member(held, inside)  # raises when it is of the wrong kind
            copy = held.copy()
        self._ours[id(copy)] = around[key] = copy
        return copy


def key_of(container: Json, step: Step) -> Json:
    if type(step) is not ItemStep:
        return step.name
    index = index_of(container, step)
    if index is None:
        raise PathError(f"{step}: there is no such item")
    return index
