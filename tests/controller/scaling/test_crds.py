from nemutator_controller.scaling.crds import scaler_definition

from scripts.crds import SCALERS, render_scalers
from tests.controller.updating.test_crds import nodes


def test_the_file_is_what_the_model_says() -> None:
    assert SCALERS.read_text() == render_scalers(), "make fmt writes it anew"


def test_every_field_has_a_meaning_a_type_and_an_end() -> None:
    made = scaler_definition()["spec"]
    assert made["scope"] == "Namespaced"
    [version] = made["versions"]
    schema = version["schema"]["openAPIV3Schema"]["properties"]
    assert schema["spec"]["required"] == ["target"]
    assert schema["spec"]["properties"]["mode"] == schema["spec"]["properties"]["mode"] | {
        "default": "Preview",
        "enum": ["Apply", "Preview"],
    }
    for name, node in schema["spec"]["properties"].items():
        assert node["description"], name
    for node in (*nodes(schema["spec"]), *nodes(schema["status"]["properties"]["forecast"])):
        if node["type"] == "string":
            assert "maxLength" in node or "enum" in node
