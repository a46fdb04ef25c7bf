from typing import Any

from nemutator_controller.oversell.crds import oversell_definition

from scripts.crds import OVERSELL, render_oversell
from tests.controller.policies.test_season_crds import nodes


def test_the_file_is_what_the_model_says() -> None:
    assert OVERSELL.read_text() == render_oversell(), "make fmt writes it anew"


def test_every_field_has_a_meaning_a_type_and_an_end() -> None:
    [version] = oversell_definition()["spec"]["versions"]
    spec: Any = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec["required"] == ["maxCPURatio"]
    ratio = spec["properties"]["maxCPURatio"]
    assert (ratio["type"], ratio["minimum"], ratio["maximum"]) == ("number", 1.0, 2.0)
    for name, node in spec["properties"].items():
        assert node["description"], name
    for node in nodes(spec):
        if node["type"] == "array":
            assert "maxItems" in node
        if node["type"] == "string":
            assert "maxLength" in node or "enum" in node
    columns = [each["name"] for each in version["additionalPrinterColumns"]]
    assert columns == ["Mode", "Ready", "Fault", "Ratio", "Oversold", "Age"]
