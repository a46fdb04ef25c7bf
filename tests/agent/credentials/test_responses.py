import pytest
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.responses import picked
from nemutator_agent.credentials.vault.documents import Document
from nemutator_common.declarations import Reference

DOCUMENT = Document.of({"user": "x", "port": 5432}, 3)


def test_a_key_is_one_value() -> None:
    found = picked("db", Reference("secret/db", "port"), DOCUMENT)
    assert (found.value.reveal(), found.is_whole, found.version) == ("5432", False, 3)


def test_without_a_key_it_is_all() -> None:
    found = picked("db", Reference("secret/db"), DOCUMENT, stale=True)
    assert (found.value.reveal(), found.is_whole) == ('{"user":"x","port":5432}', True)
    assert found.stale


def test_a_key_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(HttpRefusal, match="no key 'password'") as raised:
        picked("db", Reference("secret/db", "password"), DOCUMENT)
    assert (raised.value.status, raised.value.remedy) == (404, "its keys are: port, user")
