"""Changes of an object as a list of edits, which are noted while they are made, applied and reversed.

Objects are never changed in place and never copied whole: only what lies on the way to a change is
copied. Fields that we do not know are the very same afterwards.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from nemutator_controller.mutations.decisions import Edit, Maybe
from nemutator_controller.mutations.known_tokens import POLICY
from nemutator_controller.mutations.object_writes import DERIVED, Writing
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import (
    TEXTS,
    Json,
    Path,
    escaped,
    value_at,
)

MOST_EDITS = 1_000
"""Fields that are changed in one object, as many as a patch has operations. Each is found by going through the lists
on its way, so a pod that needs more would hold up everybody else's."""


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


class Member(msgspec.Struct, frozen=True, gc=False):
    """A text that a map is to have, with all that its write needs, which is made once for many objects. No other
    field is derived from it."""

    path: Path
    key: str
    pointer: str
    """The last part of a JSON Pointer to it, with its slash."""
    after: tuple[str]
    author: Author


def member_at(path: Path, text: str, author: Author) -> Member:
    key = path.steps[-1].name
    return Member(path, key, escaped(key), (text,), author)


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

    def author(self, path: Path) -> Author | None:
        """Who has written there; None: nobody of us."""
        return self._authors.get(path)

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

    def set_members(
        self, around: Path, members: Sequence[Member], *, only_new: bool = False
    ) -> None:
        """`set` for each of *members*, all of which are in the map at *around*; *only_new*: not for those that are
        there."""
        authors, values, writing = self._authors, self._values, self._writing
        held = self._plain_map(around)
        opened: tuple[Json, str] | None = None
        for member in members:
            path, key, after = member.path, member.key, member.after
            before = held.get(key, "") if held is not None else None
            # Whatever is no text, or was written before, takes the longer way.
            if type(before) is not str or path in authors or len(authors) >= MOST_EDITS:
                if only_new and self.value(path):
                    continue
                self.put(path, after, member.author)
                held, opened = self._plain_map(around), None
                continue
            assert held is not None, "it has told what it has"
            is_there = key in held
            if is_there and (only_new or before == after[0]):
                continue
            if opened is None:
                opened = writing.opened(around)
                held = opened[0]
            op = "replace" if is_there else "add"
            pointer = opened[1] + member.pointer
            writing.operations.append({"op": op, "path": pointer, "value": after[0]})
            held[key] = after[0]
            authors[path] = member.author
            values[path] = ((before,) if is_there else ()), after

    def _plain_map(self, around: Path) -> Json:
        """The map at *around*, if there is one and all of it may be written."""
        found = self._writing.value(around) if not self._leave else ()
        return found[0] if found and type(found[0]) is dict else None

    def edits(self) -> tuple[Edit, ...]:
        """What has really changed: each field once, in the order in which they were first written."""
        texts = {path: TEXTS.get(path) or str(path) for path in self._authors}
        paths = self._outer_paths(texts.values())
        if len(paths) < len(self._authors):
            self._is_straight = False
        if self._is_straight:
            authors, values = self._authors, self._values
            return tuple(
                [
                    Edit(
                        path=texts[path],
                        before=values[path][0],
                        after=values[path][1],
                        verb=(author := authors[path]).verb,
                        policy=author.policy,
                        reason=author.reason,
                    )
                    for path in paths
                ]
            )
        edits: list[Edit] = []
        for path in paths:
            before, after = value_at(self._original, path, self.kind), self.value(path)
            if same(before, after):
                continue
            author = self._authors[path]
            edits.append(
                Edit(
                    path=texts[path],
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

    def _outer_paths(self, written: Iterable[str]) -> Sequence[Path]:
        """All that were written, but for those within another one: such a change is part of that one.

        *written*: their texts.
        """
        # In their order, whatever is within a path follows it at once. In most pods nothing is.
        texts = sorted(written)
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
