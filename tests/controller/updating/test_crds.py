from typing import Any

from nemutator_controller.updating.crds import sizing_definition

from scripts.crds import SIZING, render_sizing


def test_the_file_is_what_the_model_says() -> None:
    assert SIZING.read_text() == render_sizing(), "make fmt writes it anew"


def test_every_field_has_a_meaning_a_type_and_an_end() -> None:
    [version] = sizing_definition()["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec["properties"]["mode"]["enum"] == ["Evict", "InPlace", "Initial", "Off"]
    for name, node in spec["properties"].items():
        assert node["description"], name
    for node in nodes(spec):
        if node["type"] == "array":
            assert "maxItems" in node
        if node["type"] == "string":
            assert "maxLength" in node or "enum" in node


def nodes(node: Any) -> Any:
    yield node
    for inner in node.get("properties", {}).values():
        yield from nodes(inner)
    for key in ("items", "additionalProperties"):
        if key in node:
            yield from nodes(node[key])
