import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.declarations import MOST
from nemutator_init.answers import (
    AgentAnswer,
    NeverError,
    NotYetError,
    declared_names,
    file_names,
    value_of,
)

DENIED = json.dumps(
    {
        "error": "Vault does not let shop.web log in",
        "remedy": "make the role shop.web in Vault",
        "step": "login",
    }
).encode()


def declared(*names: object) -> AgentAnswer:
    return AgentAnswer(200, json.dumps({"secrets": names, "environment": ["TOKEN"]}).encode())


def test_names_are_those_of_secrets_and_not_of_variables() -> None:
    assert declared_names(declared("db", "tls.key")) == ("db", "tls.key")


def test_files_have_names_too() -> None:
    assert file_names(AgentAnswer(200, b'{"files": ["db"]}')) == ("db",)
    with pytest.raises(NeverError, match="the pod's files: Vault does not let"):
        file_names(AgentAnswer(403, DENIED))
    with pytest.raises(NeverError, match="not understood"):
        file_names(AgentAnswer(200, b'{"files": ["../db"]}'))


def test_a_value_is_what_came() -> None:
    assert value_of("db", AgentAnswer(200, b"\0\xff")) == b"\0\xff"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_come_later_is_waited_for(status: int) -> None:
    with pytest.raises(NotYetError, match=str(status)):
        declared_names(AgentAnswer(status, b""))
    with pytest.raises(NotYetError, match="'db'"):
        value_of("db", AgentAnswer(status, DENIED))


@pytest.mark.parametrize("status", [204, 302, 400, 403, 404, 413])
def test_what_somebody_has_to_mend_is_said_with_step_and_remedy(status: int) -> None:
    with pytest.raises(NeverError) as never:
        value_of("db", AgentAnswer(status, DENIED))
    assert str(never.value) == (
        "secret 'db': Vault does not let shop.web log in (step: login); "
        "remedy: make the role shop.web in Vault"
    )


@pytest.mark.parametrize(
    "answer",
    [
        AgentAnswer(200, b""),
        AgentAnswer(200, b"\xff"),
        AgentAnswer(200, b"[]"),
        AgentAnswer(200, b"[" * 100_000),
        AgentAnswer(200, b'{"secrets": null}'),
        declared("../x"),
        declared("..data"),
        declared("a/b"),
        declared(""),
        declared(1),
        declared(*map(str, range(65))),
    ],
)
def test_a_list_that_is_none_is_refused(answer: AgentAnswer) -> None:
    with pytest.raises(NeverError, match="not understood"):
        declared_names(answer)


def test_the_agents_words_stay_on_one_line() -> None:
    body = json.dumps({"error": "a\n\x1b[31mb" + "x" * 9000, "remedy": "r", "step": "s"}).encode()
    with pytest.raises(NeverError) as never:
        value_of("db", AgentAnswer(403, body))
    assert str(never.value).isprintable()
    assert len(str(never.value)) < 1200


@given(st.integers(100, 599), st.binary(max_size=100))
def test_any_answer_is_names_or_a_reason(status: int, body: bytes) -> None:
    with contextlib.suppress(NotYetError, NeverError):
        assert isinstance(declared_names(AgentAnswer(status, body)), tuple)


def test_a_pod_declares_at_most_so_many() -> None:
    most = [f"s{number}" for number in range(MOST)]
    assert len(declared_names(declared(*most))) == MOST
    with pytest.raises(NeverError):
        declared_names(declared(*most, "one-more"))
