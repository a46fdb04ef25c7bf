"""Changes of an object as a list of edits, which are noted while they are made, applied and reversed.

Objects are never changed in place and never copied whole: only what lies on the way to a change is
copied. Fields that we do not know are the very same afterwards.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from nemutator_controller.mutations.decisions import Edit, Maybe
from nemutator_controller.mutations.known_tokens import POLICY
from nemutator_controller.mutations.operations import Operation, operation_at
from nemutator_controller.mutations.paths import (
    FieldStep,
    ItemStep,
    Json,
    Path,
    PathError,
    Step,
    escaped,
    field_path,
    index_of,
    member,
    parse_path,
    pointer_along,
    steps_in,
    value_at,
)

FIRST = frozenset({"initContainers"})
"""Lists in which our items go first. Init containers run in their order, and the others may wait for
what ours fetches."""

DERIVED: Mapping[Path, tuple[Path, ...]] = {
    field_path("priorityClassName"): (field_path("priority"), field_path("preemptionPolicy"))
}
"""Fields that the API server fills in from another one. When that one changes they are removed: a pod
whose number is not that of its class is refused."""

MOST_EDITS = 1_000
"""Fields that are changed in one object, as many as a patch has operations. Each is found by going through the lists
on its way, so a pod that needs more would hold up everybody else's."""

_KEPT_EMPTY = frozenset({FieldStep("metadata"), FieldStep("spec"), FieldStep("template")})


class TooLargeError(Exception):
    """A plan for this object would take so long that others wait for it."""


class Author(msgspec.Struct, frozen=True, gc=False):
    """Who wants a change, and why: what an edit says beside its values."""

    verb: str
    policy: str
    reason: str = ""

    def over(self, earlier: "Author | None") -> "Author":
        """The same, saying so when it takes the place of what another policy has written."""
        # A token's value is what the policy before it has asked for.
        if (
            earlier is None
            or earlier.policy == self.policy
            or POLICY in (earlier.policy, self.policy)
        ):
            return self
        why = f"in place of what policy {earlier.policy} writes"
        return replace(self, reason="; ".join(filter(None, (self.reason, why))))


class Draft:
    """An object while it is being changed. The original stays as it is."""

    def __init__(
        self,
        manifest: Json,
        kind: str,
        *,
        leave: frozenset[str] = frozenset(),
        before: "Draft | None" = None,
    ) -> None:
        """*leave*: paths that nobody may write. *before*: the draft with whose changes this one begins."""
        self.kind = kind
        self._original = manifest
        self._unchanged: Json = manifest if before is None else before.unchanged
        self._leave = leave
        self._authors: dict[Path, Author] = {}
        self._values: dict[Path, tuple[Maybe, Maybe]] = {}
        """Of each path, what was there before it was written, and what was written."""
        self._is_straight = True
        self._writing = Writing(manifest, kind)

    @property
    def original(self) -> Json:
        """The object as it was at first."""
        return self._original

    @property
    def unchanged(self) -> Json:
        """The object as it was before this draft and those before it."""
        return self._unchanged

    @property
    def manifest(self) -> Json:
        """The object as it is now."""
        return self._writing.manifest

    def further(self) -> "Draft":
        """A draft that begins with this one's object as it is now; this one stays as it is."""
        return Draft(self.manifest, self.kind, leave=self._leave, before=self)

    def value(self, path: Path) -> Maybe:
        return self._writing.value(path)

    @property
    def leaves_any(self) -> bool:
        """Whether there are paths that nobody may write."""
        return bool(self._leave)

    def leaves(self, path: Path) -> bool:
        """Whether nobody may write there."""
        return bool(self._leave) and str(path) in self._leave

    def set(self, path: Path, value: Json, author: Author) -> None:
        """The author of a field is the last one who changed its value."""
        self.put(path, (value,), author)

    def put(self, path: Path, value: Maybe, author: Author) -> None:
        """Set *value*, or remove the field when it is empty."""
        found = self._writing.value(path)
        if (same(found[0], value[0]) if found and value else found == value) or self.leaves(path):
            return
        authors = self._authors
        if not value or path in authors or path in DERIVED:
            self._is_straight = False
            author = author.over(authors.get(path))
        if len(authors) >= MOST_EDITS and path not in authors:
            raise TooLargeError(f"more than {MOST_EDITS} fields would be changed")
        self._writing.write(path, value)
        authors[path] = author
        self._values[path] = found, value

    def edits(self) -> tuple[Edit, ...]:
        """What has really changed: each field once, in the order in which they were first written."""
        paths = self._outer_paths()
        if len(paths) < len(self._authors):
            self._is_straight = False
        edits: list[Edit] = []
        for path in paths:
            if self._is_straight:
                before, after = self._values[path]
            else:
                before, after = value_at(self._original, path, self.kind), self.value(path)
                if same(before, after):
                    continue
            author = self._authors[path]
            edits.append(
                Edit(
                    path=str(path),
                    before=before,
                    after=after,
                    verb=author.verb,
                    policy=author.policy,
                    reason=author.reason,
                )
            )
        return tuple(edits)

    def straight(self) -> "Writing | None":
        """What was written, where it is just what `edits` say: each field once, and nothing removed."""
        return self._writing if self._is_straight else None

    def _outer_paths(self) -> Sequence[Path]:
        """All that were written, but for those within another one: such a change is part of that one."""
        # In their order, whatever is within a path follows it at once. In most pods nothing is.
        texts = sorted(map(str, self._authors))
        if not any(map(str.startswith, texts[1:], texts)):
            return list(self._authors)
        touched = {path.steps for path in self._authors}
        depths = {len(steps) for steps in touched}
        return [
            path
            for path in self._authors
            if not any(path.steps[:depth] in touched for depth in depths if depth < len(path.steps))
        ]


def apply_edits(manifest: Json, edits: Iterable[Edit], kind: str) -> Json:
    """*manifest* with all *edits*, whatever it had there before."""
    writing = Writing(manifest, kind)
    for edit in edits:
        writing.write(parse_path(edit.path), edit.after)
    return writing.manifest


def reversed_edits(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits that take *edits* back, the last one first."""
    return tuple(replace(edit, before=edit.after, after=edit.before) for edit in reversed(edits))


def same(left: Json, right: Json) -> bool:
    """Whether they are equal as JSON, where `true` is not 1 as it is in Python."""
    if left is right:
        return True
    # What most values are comes first: the rest is for kinds that are no part of decoded JSON.
    kind = type(left)
    if kind is str and type(right) is str:
        return bool(left == right)
    if (kind is tuple or kind is list) and isinstance(right, list | tuple):
        if len(left) != len(right):
            return False
        for each, other in zip(left, right, strict=True):
            if each is not other and not same(each, other):
                return False
        return True
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        if left.keys() != right.keys():
            return False
        for key, value in left.items():
            other = right[key]
            # Copies share most of what they hold.
            if value is not other and not same(value, other):
                return False
        return True
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


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
    """Whether what *steps* lead to stays when it is empty: `metadata`, a spec, a template, an item."""
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

    @property
    def manifest(self) -> Json:
        return self._holder[""]

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

    def write(self, path: Path, value: Maybe) -> None:
        for derived in DERIVED.get(path, ()):
            self.write(derived, ())
        if value:
            around = path.steps[:-1]
            opened = self._opened.get(around)
            if opened is not None:
                self._set_in(*opened, path.steps, value[0])
            else:
                self._set(steps_in(self.kind, path), value[0], around)
        elif self.value(path):
            steps = steps_in(self.kind, path)
            self._remove(steps[: emptied(self.manifest, steps)])

    def _set(self, steps: Sequence[Step], value: Json, opens: tuple[Step, ...]) -> None:
        """*opens*: by what is around the last step will be found again."""
        around: Json = self._holder
        key: int | str = ""
        pointer = ""
        ours = self._ours
        *way, last = steps
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
            else:
                key = step.name
                pointer += escaped(key)
                if around.get(key) is None:
                    # With the new parents through which the other steps lead to it.
                    added = operation_at("add", pointer, value, steps[at:])
                    self.operations.append(added)
                    around[key] = added["value"]
                    return
        held = around.get(key) if type(around) is dict else around[key]
        around = held if id(held) in ours else self.own(around, key, last)
        self._opened[opens] = around, pointer
        self._set_in(around, pointer, steps, value)

    def _set_in(self, around: Json, pointer: str, steps: Sequence[Step], value: Json) -> None:
        """What the last of *steps* leads to from *around*, our own copy of what is at *pointer*."""
        step = steps[-1]
        if type(step) is ItemStep:
            index = index_of(around, step)
            if index is None:
                index = place_of_new(steps, around)
                if index == len(around):
                    self.operations.append(operation_at("add", f"{pointer}/-", value))
                else:
                    self._opened.clear()
                    self.operations.append(operation_at("add", f"{pointer}/{index}", value))
                around.insert(index, value)
                return
            key: int | str = index
            pointer = f"{pointer}/{index}"
            before = around[index]
        else:
            if type(around) is not dict:
                member(around, step)  # raises
            key = step.name
            pointer += escaped(key)
            before = around.get(key)
        if type(before) is dict or type(before) is list:
            self._opened.clear()
        # Not every server can "replace" a field that is null; all can "add" it, which replaces it.
        op: Literal["add", "replace"] = "add" if before is None else "replace"
        self.operations.append(operation_at(op, pointer, value))
        around[key] = value

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
