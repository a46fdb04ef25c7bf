"""An operation brings the parents that its value still lacks."""

from nemutator_controller.mutations.operations import operation_at
from nemutator_controller.mutations.paths import FieldStep, ItemStep, KeyStep


def test_missing_parents_come_with_the_value() -> None:
    inside = (KeyStep("team"),)
    assert operation_at("add", "/metadata/labels", "a", inside) == {
        "op": "add",
        "path": "/metadata/labels",
        "value": {"team": "a"},
    }
    deeper = (FieldStep("env"), ItemStep("name", "LOG"))
    assert operation_at("add", "/spec", {"name": "LOG"}, deeper)["value"] == {
        "env": [{"name": "LOG"}]
    }


def test_without_them_it_is_the_value_itself() -> None:
    assert operation_at("test", "/a", None) == {"op": "test", "path": "/a", "value": None}
