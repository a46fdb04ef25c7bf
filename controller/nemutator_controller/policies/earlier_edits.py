"""Edits of an object that were made before, as when a plan is made of its own result: no edit is made twice."""

from collections.abc import Iterable, Iterator

from msgspec import structs

from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.edits import same
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import Json, PathError, value_at
from nemutator_controller.mutations.stamps import Stamp


def before_us(manifest: Json, kind: str, stamp: Stamp | None) -> Json:
    """*manifest* without the edits that its *stamp* names."""
    if stamp is None:
        return manifest
    try:
        return stamp.taken_off(manifest, kind)
    except PathError:
        # The stamp is not ours: it names what this object does not have.
        return manifest


def missing(manifest: Json, kind: str, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Those of *edits* whose results *manifest* does not have yet."""
    for edit in edits:
        now = value_at(manifest, parse_path(edit.path), kind)
        if not same(now, edit.after):
            yield structs.replace(edit, before=now)
