"""How a field of an object can get another value: what Kubernetes allows for each kind."""

from typing import Literal

from nemutator_controller.mutations.decisions import Maybe
from nemutator_controller.mutations.paths import FieldStep, ItemStep, KeyStep, Path

Way = Literal["patch", "resize", "new pod"]

POD = "Pod"


def way_of(kind: str, path: Path, wanted: Maybe, *, running: bool) -> Way:
    """How the field *path* of an object of *kind* gets the value *wanted*.

    The spec of a running pod is fixed: only its metadata can be patched, and the CPU and memory of its
    containers resized, to other amounts but not to none (KEP-1287).
    """
    if kind != POD or not running or path.steps[0] == FieldStep("metadata"):
        return "patch"
    match path.steps:
        case (
            FieldStep("containers"),
            ItemStep("name"),
            FieldStep("resources"),
            FieldStep("requests" | "limits"),
            FieldStep("cpu" | "memory") | KeyStep("cpu" | "memory"),
        ) if wanted:
            return "resize"
    return "new pod"
