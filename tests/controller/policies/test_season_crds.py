from typing import Any

from nemutator_controller.policies.season_crds import season_definition

from scripts.crds import SEASONS, render_seasons


def test_the_file_is_what_the_model_says() -> None:
    assert SEASONS.read_text() == render_seasons(), "make fmt writes it anew"


def test_every_field_has_a_meaning_a_type_and_an_end() -> None:
    [version] = season_definition()["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec["required"] == ["when"]
    for name, node in spec["properties"].items():
        assert node["description"], name
    for node in nodes(spec):
        if node["type"] == "array":
            assert "maxItems" in node
        if node["type"] == "string":
            assert "maxLength" in node or "enum" in node
    columns = [each["name"] for each in version["additionalPrinterColumns"]]
    assert columns == ["Ready", "Fault", "InForce", "Why", "Age"]


def nodes(node: Any) -> Any:
    yield node
    for inner in node.get("properties", {}).values():
        yield from nodes(inner)
    if "items" in node:
        yield from nodes(node["items"])
