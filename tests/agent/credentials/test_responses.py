import pytest
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.responses import (
    LONGEST_STRING,
    MOST_KEPT,
    SecretAtHand,
    ShownSecret,
    picked,
    shown,
    zero_separated,
)
from nemutator_agent.credentials.vault.documents import Document
from nemutator_common.declarations import Reference
from nemutator_common.secret import Secret

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


@pytest.mark.parametrize("raw", [False, True])
def test_what_was_shown_is_kept_unless_it_is_large(raw: bool) -> None:
    reference, kept = Reference("secret/db", "word"), dict[bool, ShownSecret]()
    for word, is_kept in (("x", True), ("x" * MOST_KEPT, raw), ("x" * (MOST_KEPT + 1), False)):
        document = Document.of({"word": word}, 3)
        kept.clear()
        for _ in range(2):
            at_hand = SecretAtHand("db", reference, document, kept, record=lambda: None)
            assert at_hand.show(raw=raw) == shown(picked("db", reference, document), raw=raw)
        assert set(kept) == ({raw} if is_kept else set())


def test_variables_are_written_as_a_program_gets_them() -> None:
    values = {"A": Secret("x = y\n"), "EMPTY": Secret(""), "U": Secret("ü")}
    assert zero_separated(values) == b"A=x = y\n\0EMPTY=\0U=\xc3\xbc\0"
    assert zero_separated({}) == b""
    longest = "x" * (LONGEST_STRING - len("A=\0"))
    assert len(zero_separated({"A": Secret(longest)})) == LONGEST_STRING


@pytest.mark.parametrize(
    ("value", "why"), [("a\0B=b", "zero byte"), ("x" * LONGEST_STRING, "128 KiB")]
)
def test_what_cannot_be_a_variable_is_refused_without_its_value(value: str, why: str) -> None:
    with pytest.raises(HttpRefusal, match=f"'A' .*{why}") as raised:
        zero_separated({"A": Secret(value)})
    assert (raised.value.status, raised.value.step) == (400, "variable")
    assert value not in str(raised.value)
