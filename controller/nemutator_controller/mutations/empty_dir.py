"""The verb `emptyDir`: how much the empty volumes of a pod may hold, where nobody has said so."""

from collections.abc import Iterator

import msgspec

from nemutator_controller.kube.quantities import QuantityError, parse_quantity
from nemutator_controller.mutations.chosen_containers import Globs
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.globs import fits_any
from nemutator_controller.mutations.paths import field_path, named
from nemutator_controller.mutations.resources import QUANTITY

VERB = "emptyDir"


class EmptyDirs(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    size_limit: str
    """A quantity, where the volume has none."""
    volumes: Globs = ("*",)
    """Globs on their names."""


def apply(draft: Draft, wanted: EmptyDirs, *, policy: str) -> None:
    volumes = [each for found in draft.value(field_path("volumes")) for each in found or ()]
    for volume in volumes:
        name = volume.get("name") if isinstance(volume, dict) else None
        if not isinstance(name, str) or not fits_any(name, wanted.volumes):
            continue
        source = volume.get(VERB)
        # One in the node's memory, huge pages too, is bounded by that of its containers.
        if (
            isinstance(source, dict)
            and source.get("sizeLimit") is None
            and not source.get("medium")
        ):
            path = named("volumes", name) / VERB / "sizeLimit"
            draft.set(path, wanted.size_limit, Author(VERB, policy))


def faults(wanted: EmptyDirs) -> Iterator[str]:
    try:
        positive = parse_quantity(wanted.size_limit).nanos > 0
    except QuantityError as error:
        yield f"sizeLimit: {error}"
        return
    if not QUANTITY.fullmatch(wanted.size_limit) or not positive:
        yield f"sizeLimit: {wanted.size_limit!r}: expected a quantity above 0, such as 1Gi"
