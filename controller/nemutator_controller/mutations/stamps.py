"""What stands on a pod about what we did to it: enough to take it back without a journal.

Compact JSON: `{"id": "…", "edits": [[path, before, after, verb, policy], …]}`, before and after
being lists of none or one value. When that is too long the edits are left out, and the record of
that id must be on disk before anybody gets the answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
from nemutator_common import names

from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.edits import apply_edits, reversed_edits, same
from nemutator_controller.mutations.paths import Json, PathError, annotation, parse_path, value_at

LONGEST = 4096
"""Bytes. All annotations of an object together may have 256 KiB."""

PATH = annotation(names.MUTATION)


class _Wire(msgspec.Struct, frozen=True):
    id: str
    edits: list[tuple[str, list[Json], list[Json], str, str]] | None = None


_decoder = msgspec.json.Decoder(_Wire)


@dataclass(frozen=True, slots=True)
class Stamp:
    id: str
    edits: tuple[Edit, ...] | None
    """None: they did not fit."""

    def taken_off(self, manifest: Json, kind: str) -> Json:
        """*manifest* as it was before us, where it still has what we wrote."""
        ours = [
            edit
            for edit in self.edits or ()
            if same(value_at(manifest, parse_path(edit.path), kind), edit.after)
        ]
        return apply_edits(manifest, reversed_edits(ours), kind)


def stamp_of(manifest: Json, kind: str) -> Stamp | None:
    """What *manifest* says that we did to it. Nonsense says that we did something, and not what."""
    found = value_at(manifest, PATH, kind)
    return (parse_stamp(found[0]) or Stamp("", None)) if found else None


def parse_stamp(text: Json) -> Stamp | None:
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    try:
        wire = _decoder.decode(text)
        return Stamp(wire.id, None if wire.edits is None else tuple(map(_edit, wire.edits)))
    except (msgspec.MsgspecError, PathError, RecursionError, UnicodeError):
        return None


def written(stamp: Stamp) -> str:
    """As it stands on the pod; without the edits when these are too many."""
    return in_full(stamp) or msgspec.json.encode(_Wire(stamp.id)).decode()


def in_full(stamp: Stamp) -> str | None:
    """The same when it says all that was done."""
    if stamp.edits is None:
        return None
    edits = [(each.path, each.before, each.after, each.verb, each.policy) for each in stamp.edits]
    text = msgspec.json.encode({"id": stamp.id, "edits": edits})
    return text.decode() if len(text) <= LONGEST else None


def merged(earlier: Stamp | None, decision: str, edits: Sequence[Edit]) -> Stamp:
    """The stamp after *edits* on an object that had the stamp *earlier*.

    What a field was before the first of them is what it would be taken back to; but what somebody
    else has written in between is what it was.
    """
    if earlier is None:
        return Stamp(decision, tuple(edits))
    if earlier.edits is None:
        return Stamp(decision, None)
    folded = {edit.path: edit for edit in earlier.edits}
    for edit in edits:
        first = folded.get(edit.path)
        stood = first is not None and same(first.after, edit.before)
        folded[edit.path] = replace(edit, before=first.before) if first and stood else edit
    return Stamp(decision, tuple(folded.values()))


def _edit(wire: Sequence[Json]) -> Edit:
    path, before, after, verb, policy = wire
    parse_path(path)
    if len(before) > 1 or len(after) > 1:
        raise PathError(f"{path}: more than one value")
    return Edit(path=path, before=tuple(before), after=tuple(after), verb=verb, policy=policy)
