from typing import Any

import pytest
from nemutator_ctl.installation import files
from nemutator_ctl.installation.value_schema import KNOWN, TYPES, faults

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "replicas": {"type": "integer", "minimum": 1},
        "share": {"type": "number"},
        "size": {"type": ["string", "number"], "pattern": "^[0-9]+(Gi)?$"},
        "policy": {"enum": ["", "Always"]},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "list": {"type": "array", "items": {"type": "object"}},
        "name": {"type": "string", "minLength": 1},
        "free": {"type": "object"},
    },
}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"replicas": 1, "share": 1, "size": 2, "policy": "Always", "name": "x"},
        {"share": 0.5, "size": "2Gi", "labels": {"a": "b"}, "list": [{}], "free": {"a": [1]}},
    ],
)
def test_what_the_schema_allows_has_no_fault(value: Any) -> None:
    assert not list(faults(value, SCHEMA))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"replicas": 0}, "replicas: 0 is less than 1"),
        ({"replicas": True}, "replicas: True is no integer"),
        ({"replicas": 1.5}, "replicas: 1.5 is no integer"),
        ({"share": "1"}, "share: '1' is no number"),
        ({"size": "lots"}, "size: 'lots' does not look like ^[0-9]+(Gi)?$"),
        ({"size": None}, "size: None is no string and no number"),
        ({"policy": "Sometimes"}, "policy: 'Sometimes' is none of '', 'Always'"),
        ({"labels": {"a": 1}}, "labels.a: 1 is no string"),
        ({"list": [{}, 3]}, "list[1]: 3 is no object"),
        ({"name": ""}, "name is empty"),
        ({"replica": 1}, "replica: nothing reads this (did you mean replicas?)"),
        ({"zzz": 1}, "zzz: nothing reads this"),
        ([], ": [] is no object"),
        ({"name": ["x" * 200]}, f"name: {repr(['x' * 200])[:80]}… is no string"),
    ],
)
def test_what_it_forbids_is_named_with_its_place(value: Any, said: str) -> None:
    assert list(faults(value, SCHEMA)) == [said]


def test_all_faults_are_said_at_once() -> None:
    assert len(list(faults({"replicas": 0, "name": "", "other": 1}, SCHEMA))) == 3


def test_the_charts_schema_says_nothing_that_is_not_held_here() -> None:
    def words(schema: Any) -> set[str]:
        found = set(schema)
        kinds = schema.get("type", [])
        assert {kinds} <= set(TYPES) if isinstance(kinds, str) else set(kinds) <= set(TYPES)
        below = [*schema.get("properties", {}).values(), schema.get("items")]
        if isinstance(schema.get("additionalProperties"), dict):
            below.append(schema["additionalProperties"])
        return found.union(*(words(each) for each in below if each))

    assert words(files.shipped().schema) <= KNOWN
