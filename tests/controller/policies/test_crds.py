"""The definition in deploy/ is what the model says, and structural."""

from typing import Any

import msgspec
import pytest
from nemutator_controller.policies.crds import definition, schema_of
from nemutator_controller.policies.verbs import VERBS

from scripts.crds import TARGET, render


def test_the_file_is_what_the_model_says() -> None:
    assert TARGET.read_text() == render(), "make fmt writes it anew"


def schema() -> Any:
    return definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def nodes(node: Any) -> Any:
    yield node
    for inner in node.get("properties", {}).values():
        yield from nodes(inner)
    for key in ("items", "additionalProperties"):
        if key in node:
            yield from nodes(node[key])


def test_every_node_has_a_type_and_an_end() -> None:
    for node in nodes(schema()["properties"]["spec"]):
        assert node["type"] in {"object", "array", "string", "number", "integer", "boolean"}
        # What has no end has no bounded cost for CEL either.
        if node["type"] == "array":
            assert "maxItems" in node
        if node["type"] == "string":
            assert "maxLength" in node or "enum" in node
        if "additionalProperties" in node:
            assert "maxProperties" in node
        # Go's regular expressions look neither ahead nor behind, and the API server would refuse all of it.
        assert "(?=" not in node.get("pattern", "")
        assert "(?!" not in node.get("pattern", "")
        assert "(?<" not in node.get("pattern", "")


def test_the_fields_are_those_of_the_model() -> None:
    spec = schema()["properties"]["spec"]
    assert set(spec["properties"]) == {
        "match", "applyTo", "missed", "when", "tokens", "mode", "mutations",
    }  # fmt: skip
    assert spec["required"] == ["mutations"]
    mutation = spec["properties"]["mutations"]["items"]
    assert tuple(mutation["properties"]) == VERBS
    assert spec["properties"]["mode"]["default"] == "Preview"
    assert spec["properties"]["applyTo"]["default"] == "pod"


def test_a_type_without_a_schema_is_a_defect() -> None:
    class Odd(msgspec.Struct):
        field: bytes

    with pytest.raises(TypeError, match="no schema for"):
        schema_of(Odd)
