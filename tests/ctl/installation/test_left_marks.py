"""What is taken off nodes and autoscalers when an installation goes, and what of others stays."""

from typing import Any

from nemutator_common import names
from nemutator_controller.scaling.marks import RaisedMark
from nemutator_ctl.installation.left_marks import patch_of_autoscaler, patch_of_node

Json = dict[str, Any]

TAINT_OF_OTHERS = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
MARK = RaisedMark(base=2, raised=6, decision="d1", by="nemutator", uid="u1").text


def node(**metadata: Any) -> Json:
    return {"metadata": {"name": "n1", "resourceVersion": "7", **metadata}, "spec": {}}


def autoscaler(minimum: int, mark: str = MARK, uid: str = "u1") -> Json:
    annotations = {str(names.RAISED_MINIMUM): mark, "team": "shop"}
    metadata = {"name": "web", "uid": uid, "resourceVersion": "7", "annotations": annotations}
    return {"metadata": metadata, "spec": {"minReplicas": minimum}}


def test_a_node_loses_our_taints_label_and_annotations_and_nothing_else() -> None:
    found = node(
        labels={str(names.PLACEMENT_GRADE): "3", str(names.OVERSELL): "enabled"},
        annotations={str(names.OVERSELL_RATIO): "1.20", str(names.RAW_CPU): "4", "a": "b"},
    )
    ours = {"key": str(names.PRESSURE), "value": "2", "effect": "PreferNoSchedule"}
    found["spec"]["taints"] = [TAINT_OF_OTHERS, ours]
    assert patch_of_node(found) == {
        "metadata": {
            "resourceVersion": "7",
            "labels": {str(names.PLACEMENT_GRADE): None},
            "annotations": {str(names.OVERSELL_RATIO): None, str(names.RAW_CPU): None},
        },
        "spec": {"taints": [TAINT_OF_OTHERS]},
    }


def test_a_node_without_a_mark_is_left_alone() -> None:
    found = node(labels={str(names.OVERSELL): "enabled"})
    assert patch_of_node(found) is None
    found["spec"] = {"taints": [TAINT_OF_OTHERS]}
    assert patch_of_node(found) is None
    assert patch_of_node({"metadata": {"name": "n1", "labels": None}}) is None


def test_an_autoscaler_has_its_owners_minimum_again() -> None:
    patch = patch_of_autoscaler(autoscaler(6))
    assert patch is not None
    assert patch["spec"] == {"minReplicas": 2}
    assert patch["metadata"]["annotations"] == {str(names.RAISED_MINIMUM): None}


def test_a_minimum_that_somebody_else_has_written_stays() -> None:
    for found in (autoscaler(4), autoscaler(6, uid="a copy"), autoscaler(6, mark="garbled")):
        patch = patch_of_autoscaler(found)
        assert patch is not None
        assert "spec" not in patch


def test_an_autoscaler_that_was_never_raised_is_left_alone() -> None:
    assert patch_of_autoscaler({"metadata": {"name": "web"}, "spec": {"minReplicas": 6}}) is None
