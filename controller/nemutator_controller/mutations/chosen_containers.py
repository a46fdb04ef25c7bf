"""The containers of a pod that a verb is for: init containers, too, but not the one that we inject."""

from collections.abc import Iterator
from typing import Annotated

import msgspec

from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.globs import fits_any
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.paths import Json, Path, field_path, named
from nemutator_controller.mutations.qos import LISTS

Glob = Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
Globs = Annotated[tuple[Glob, ...], msgspec.Meta(min_length=1, max_length=64)]


def chosen(draft: Draft, globs: tuple[str, ...]) -> Iterator[tuple[Path, Json]]:
    """Path and value of each container whose name fits one of *globs*."""
    for field in LISTS:
        for listed in draft.value(field_path(field)):
            for container in listed or ():
                name = container.get("name") if isinstance(container, dict) else None
                if not isinstance(name, str) or name == INIT_CONTAINER:
                    continue
                if fits_any(name, globs):
                    yield named(field, name), container
