import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.vault.documents import Document, EngineMount

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), values, max_size=5))
def test_all_that_was_read_comes_out_again(data: dict[str, Any]) -> None:
    document = Document.of(data, 3)
    content = document.content.reveal()
    assert json.loads(content) == data
    assert len(content.encode("utf-8", "surrogatepass")) == document.size
    assert document.keys() == tuple(data)
    for key, value in data.items():
        given_out = document.value(key)
        assert given_out is not None
        text = given_out.reveal()
        assert text == value if isinstance(value, str) else json.loads(text) == value


def test_a_document_is_taken_apart_once() -> None:
    document = Document.of({"user": "x", "port": 5432}, 1)
    assert document.value("port") is document.value("port")


def test_a_key_that_is_not_there_is_none() -> None:
    assert Document.of({"user": "x"}, 1).value("password") is None


@pytest.mark.parametrize("show", [str, repr])
def test_nobody_sees_a_value_by_accident(show: Any) -> None:
    assert "hunter2" not in show(Document.of({"password": "hunter2"}, 1))


def test_half_a_character_is_a_value_like_any_other() -> None:
    # A pod may write this into its own secret, and it may not end the process that reads it.
    assert Document.of({"a": "\ud800"}, 1).size == len('{"a":"xxx"}')


@pytest.mark.parametrize("path", ["auth/token/", "team-a/auth/token/", "team-a/sys/", "identity/"])
def test_a_mount_of_vaults_own_is_known_in_each_namespace(path: str) -> None:
    assert EngineMount(path, None, "token").is_reserved
    assert EngineMount("team-a/", None, "ns_system").is_reserved
    assert not EngineMount("secret/", 2).is_reserved
    assert not EngineMount("tokens/", None, "database").is_reserved


def test_a_digest_is_made_once_and_knows_a_change() -> None:
    document = Document.of({"user": "x", "half": "\ud800"}, 1)
    assert document.digest("user") is document.digest("user")
    assert document.digest("user") == Document.of({"user": "x"}, 2).digest("user")
    digests = {document.digest(key) for key in ("user", "half", None)}
    assert len(digests) == 3
    assert None not in digests
    assert document.digest("password") is None
