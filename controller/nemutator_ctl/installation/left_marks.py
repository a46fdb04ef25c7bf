"""What the brain has written on nodes and autoscalers, which stay when it goes, and how that is taken away: pure."""

from collections.abc import Mapping
from typing import Any

from nemutator_common import names
from nemutator_controller.scaling.marks import mark_of

Json = dict[str, Any]

TAINTS = frozenset(map(str, (names.PRESSURE, names.RESERVE, names.EMPTYING)))
LABELS = tuple(map(str, (names.PLACEMENT_GRADE,)))
ANNOTATIONS = tuple(
    map(str, (names.MARKED_BY, names.REMOVABLE, names.OVERSELL_RATIO, names.RAW_CPU))
)


def patch_of_node(node: Mapping[str, Any]) -> Json | None:
    """A merge patch for a *node* as it is; None: it has no mark."""
    metadata = node["metadata"]
    labels, annotations = (
        _absent(metadata, "labels", LABELS),
        _absent(metadata, "annotations", ANNOTATIONS),
    )
    taints = (node.get("spec") or {}).get("taints") or []
    kept = [each for each in taints if each.get("key") not in TAINTS]
    if not labels and not annotations and len(kept) == len(taints):
        return None
    patch: Json = {
        # A list is written as a whole: not over what somebody else has added meanwhile.
        "metadata": {"resourceVersion": metadata["resourceVersion"], **labels, **annotations}
    }
    if len(kept) < len(taints):
        patch["spec"] = {"taints": kept}
    return patch


def patch_of_autoscaler(autoscaler: Mapping[str, Any]) -> Json | None:
    """The same for one whose minimum may have been raised: its owner's again, unless somebody has written another one."""
    metadata = autoscaler["metadata"]
    annotations = _absent(metadata, "annotations", (str(names.RAISED_MINIMUM),))
    if not annotations:
        return None
    patch: Json = {"metadata": {"resourceVersion": metadata["resourceVersion"], **annotations}}
    mark = mark_of(str(metadata["annotations"][names.RAISED_MINIMUM]))
    is_ours = mark is not None and mark.uid == metadata.get("uid")
    if mark is not None and is_ours and autoscaler["spec"].get("minReplicas") == mark.raised:
        patch["spec"] = {"minReplicas": mark.base}
    return patch


def _absent(metadata: Mapping[str, Any], field: str, words: tuple[str, ...]) -> Json:
    there = [word for word in words if word in (metadata.get(field) or {})]
    return {field: dict.fromkeys(there)} if there else {}
