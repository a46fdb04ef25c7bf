import json
from typing import Any

from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault_api.api_answer import (
    ApiAnswer,
    kv_answer,
    mount_answer,
    refusal_answer,
    renewed_answer,
    token_answer,
)

TOKEN = {"id": "hvs.own", "accessor": "acc", "policies": ["p"], "ttl": 60, "renewable": True}


def read(answer: ApiAnswer) -> Any:
    return json.loads(answer.body().reveal())


def test_a_document_is_written_as_its_engine_writes_it() -> None:
    metadata = {"version": 3, "destroyed": False}
    document = Document.of({"a": "é", "n": 1}, 3, metadata)
    second = read(kv_answer(document, EngineMount("secret/", 2), request_id="r"))
    assert second["data"] == {"data": {"a": "é", "n": 1}, "metadata": metadata}
    assert (second["request_id"], second["auth"]) == ("r", None)
    first = read(kv_answer(Document.of({"a": "x"}, None), EngineMount("kv/", 1), request_id="r"))
    assert first["data"] == {"a": "x"}


def test_a_mount_has_a_version_where_its_engine_has_some() -> None:
    kv = read(mount_answer(EngineMount("secret/", 2), request_id="r"))
    assert kv["data"] == {"path": "secret/", "type": "kv", "options": {"version": "2"}}
    other = read(mount_answer(EngineMount("transit/", None, "transit"), request_id="r"))
    assert other["data"]["options"] is None


def test_of_a_token_nothing_is_shown_that_could_use_it() -> None:
    looked_up = token_answer({"data": TOKEN}, request_id="r")
    renewed = renewed_answer({"data": TOKEN}, request_id="r")
    assert read(looked_up)["data"] == {"policies": ["p"], "ttl": 60, "renewable": True}
    assert read(renewed)["auth"]["lease_duration"] == 60
    for answer in (looked_up, renewed):
        assert "hvs.own" not in answer.body().reveal()
        assert '"acc"' not in answer.body().reveal()
        assert "hvs.own" not in repr(answer)


def test_a_token_of_which_vault_says_nothing_is_nothing() -> None:
    assert read(token_answer({}, request_id="r"))["data"] == {}


def test_a_refusal_has_vaults_shape() -> None:
    answer = refusal_answer(HttpRefusal(503, "no", remedy="wait", step="vault", retry_after_s=5))
    assert (answer.status, answer.retry_after_s) == (503, 5)
    assert read(answer) == {"errors": ["no; wait"]}
    missing = refusal_answer(HttpRefusal(404, "none", remedy="write it", step="vault"))
    assert read(missing) == {"errors": []}
