from typing import Any

import msgspec
from nemutator_controller.console.open_api import (
    ApiPath,
    QueryWord,
    document,
    open_api,
    part,
)

PAIR = part("Pair", left=int, right=str)
PAIRS = document("PairList", items=list[Any], first=PAIR)


def pairs(**changed: Any) -> ApiPath:
    said: dict[str, Any] = {
        "method": "GET",
        "path": "/api/v1/pairs/{name}/of-two",
        "verb": "get",
        "resource": "pairs",
        "summary": "Pairs.",
        "answers": PAIRS,
    }
    return ApiPath(**said | changed)


def operation(path: ApiPath) -> dict[str, Any]:
    (methods,) = open_api([path], version="1")["paths"].values()
    (found,) = methods.values()
    return dict(found)


def test_an_answer_is_described_by_its_type() -> None:
    shown = open_api([pairs()], version="1.2")
    assert (shown["openapi"], shown["info"]["version"]) == ("3.1.0", "1.2")
    schemas = shown["components"]["schemas"]
    assert schemas["PairList"]["required"] == ["apiVersion", "kind", "items", "first"]
    assert schemas["PairList"]["properties"]["kind"] == {"enum": ["PairList"]}
    assert schemas["Pair"]["properties"] == {
        "left": {"type": "integer"},
        "right": {"type": "string"},
    }


def test_words_of_path_and_query_are_parameters_and_the_body_is_described() -> None:
    word = QueryWord("limit", int, "How many.", required=True)
    found = operation(pairs(method="POST", query=[word], body=PAIR, status=202))
    assert [(each["name"], each["in"], each["required"]) for each in found["parameters"]] == [
        ("name", "path", True),
        ("limit", "query", True),
    ]
    assert found["parameters"][1]["schema"] == {"type": "integer"}
    of_body = found["requestBody"]["content"]["application/json"]["schema"]
    assert of_body == {"$ref": "#/components/schemas/Pair"}
    assert list(found["responses"]) == ["202", "default"]
    assert found["operationId"] == "post_pairs_name_of_two"


def test_one_of_several_answers_and_what_is_no_json() -> None:
    several = operation(pairs(answers=(PAIRS, PAIR)))["responses"]["200"]["content"]
    assert several["application/json"]["schema"]["anyOf"] == [
        {"$ref": "#/components/schemas/PairList"},
        {"$ref": "#/components/schemas/Pair"},
    ]
    page = operation(pairs(answers="text/html"))["responses"]["200"]["content"]
    assert page == {"text/html": {"schema": {"type": "string"}}}


def test_each_path_names_its_permission_and_every_refusal_has_a_remedy() -> None:
    found = operation(pairs(narrows=True))
    assert found["description"].startswith("Needs `get pairs.nemutator.io`. With `namespace`")
    refused = found["responses"]["default"]["content"]["application/json"]["schema"]
    assert refused == {"$ref": "#/components/schemas/ApiRefusal"}
    schemas = open_api([pairs()], version="1")["components"]["schemas"]
    assert schemas["ApiRefusal"]["required"] == ["error", "remedy"]


def test_what_may_be_anything_is_described_as_that() -> None:
    kind = msgspec.defstruct("Loose", [("more", dict[str, object])])
    schemas = open_api([pairs(answers=kind)], version="1")["components"]["schemas"]
    more = schemas["Loose"]["properties"]["more"]
    assert more == {"type": "object", "additionalProperties": {"description": "anything"}}
