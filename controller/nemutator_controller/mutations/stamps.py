"""The annotation that says what we did to an object: enough to take it back without a journal.

A workload carries it itself, and not its template: pods would inherit it, and another id would roll them.
It is compact JSON: `{"id": "…", "edits": [[path, before, after, verb, policy], …]}`, in which before
and after are lists of no value or one. When that is too long the edits are left out, and the record
of that id must be on disk before the response is sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace
from nemutator_common import names

from nemutator_controller.mutations.decisions import Edit, Maybe
from nemutator_controller.mutations.edits import apply_edits, reversed_edits, same
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import (
    TEMPLATES,
    FieldStep,
    Json,
    Path,
    PathError,
    annotation,
    value_at,
)

LONGEST = 4096
"""Bytes of a stamp. All annotations of an object together may have 256 KiB."""

PATH = annotation(names.MUTATION)
"""Where a pod carries it."""

_ON_WORKLOADS = Path((FieldStep("workload"), *PATH.steps))


class _Wire(msgspec.Struct, frozen=True):
    id: str
    edits: list[tuple[str, list[Json], list[Json], str, str]] | None = None


_decoder = msgspec.json.Decoder(_Wire)


@dataclass(frozen=True, slots=True)
class Stamp:
    id: str
    edits: tuple[Edit, ...] | None
    """None: there was no room for them."""

    def taken_off(self, manifest: Json, kind: str) -> Json:
        """*manifest* without our edits, where it still has the values that we wrote."""
        ours = [
            edit
            for edit in self.edits or ()
            if same(value_at(manifest, parse_path(edit.path), kind), edit.after)
        ]
        return apply_edits(manifest, reversed_edits(ours), kind)

    def of_what_stands(self, manifest: Json, kind: str) -> "Stamp | None":
        """The same for the fields of *manifest* that have our values; None where there are none."""
        try:
            standing = tuple(
                edit
                for edit in self.edits or ()
                if same(value_at(manifest, parse_path(edit.path), kind), edit.after)
            )
        except PathError:
            # It is not ours: it names what such an object does not have.
            return None
        return Stamp(self.id, standing) if standing else None


def stamp_of(manifest: Json, kind: str) -> Stamp | None:
    """The stamp of *manifest*. Text that cannot be read as one means that we did something unknown."""
    found = stamp_text(manifest, kind)
    return (parse_stamp(found[0]) or Stamp("", None)) if found else None


def stamp_path(kind: str) -> Path:
    """Where an object of *kind* carries its stamp."""
    return _ON_WORKLOADS if TEMPLATES.get(kind) else PATH


def stamp_text(manifest: Json, kind: str) -> Maybe:
    return value_at(manifest, stamp_path(kind), kind)


def stamping(before: Maybe, *after: str, kind: str = "Pod") -> Edit:
    """The edit that replaces a stamp *before* by another one, or removes it."""
    return Edit(path=str(stamp_path(kind)), before=before, after=after, verb="stamp", policy="")


def parse_stamp(text: Json) -> Stamp | None:
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    try:
        wire = _decoder.decode(text)
        return Stamp(wire.id, None if wire.edits is None else tuple(map(_edit, wire.edits)))
    except (msgspec.MsgspecError, PathError, RecursionError, UnicodeError):
        return None


def written(stamp: Stamp) -> str:
    """The text of *stamp*; without its edits when they are too long."""
    return in_full(stamp) or msgspec.json.encode(_Wire(stamp.id)).decode()


def in_full(stamp: Stamp) -> str | None:
    """The text of *stamp* with all its edits; None when there is no room for them."""
    if stamp.edits is None:
        return None
    text = of_any_length(stamp.id, stamp.edits)
    return text.decode() if len(text) <= LONGEST else None


def of_any_length(id_: str, edits: Sequence[Edit]) -> bytes:
    """The text of a stamp, whether or not there is room for it."""
    wire = [(each.path, each.before, each.after, each.verb, each.policy) for each in edits]
    return msgspec.json.encode({"id": id_, "edits": wire})


def merged(
    earlier: Stamp | None, decision: str, edits: Sequence[Edit], *, new: bool = False
) -> Stamp:
    """The stamp after *edits* of an object that had the stamp *earlier*.

    A field is taken back to its value before our first edit, or to the one that somebody else has
    written since. *new*: the object is still being created, so what other webhooks have written since is
    not what its creator wanted.
    """
    if earlier is None:
        return Stamp(decision, tuple(edits))
    if earlier.edits is None:
        return Stamp(decision, None)
    by_path = {edit.path: edit for edit in earlier.edits}
    for edit in edits:
        first = by_path.get(edit.path)
        ours = first is not None and (new or same(first.after, edit.before))
        by_path[edit.path] = replace(edit, before=first.before) if first and ours else edit
    return Stamp(decision, tuple(by_path.values()))


def _edit(wire: Sequence[Json]) -> Edit:
    path, before, after, verb, policy = wire
    parse_path(path)
    if len(before) > 1 or len(after) > 1:
        raise PathError(f"{path}: more than one value")
    return Edit(path=path, before=tuple(before), after=tuple(after), verb=verb, policy=policy)
