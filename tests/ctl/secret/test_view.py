import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.secret.view import (
    LARGEST_BYTES,
    SecretRow,
    open_rules,
    path_of,
    row,
    rows,
    value,
    value_from,
    view,
)

DB = {"name": "db", "version": 3, "rules": ["uid=1000", "exe=/usr/bin/app"]}


def test_names_versions_and_rules_are_shown() -> None:
    title, line = view(rows({"items": [DB]})).splitlines()
    assert title.split() == ["NAME", "VERSION", "FOR"]
    assert line.split() == ["db", "3", "uid=1000", "or", "exe=/usr/bin/app"]


def test_a_value_that_a_list_should_not_have_is_not_shown() -> None:
    assert "hunter2" not in view(rows({"items": [DB | {"value": "hunter2"}]}))


def test_without_secrets_it_says_how_to_make_one() -> None:
    assert "nemutator secret set" in view(rows({"items": []}))


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"items": 1}, {"items": [1]}, {"items": [{"name": "x"}]}, {"items": [{**DB, "version": "3"}]}],
)  # fmt: skip
def test_what_is_no_list_is_refused(document: object) -> None:
    with pytest.raises(OperatorError, match="not understood"):
        rows(document)


def test_one_secret_is_a_row() -> None:
    assert row(DB) == SecretRow("db", 3, ("uid=1000", "exe=/usr/bin/app"))


def test_a_rule_that_leaves_the_user_open_is_found() -> None:
    rules = ("uid=1", "exe=/a", "uid=1,exe=/a", "exe=/a,cgroup=/b", "exe=/a,b")
    assert open_rules(rules) == ("exe=/a", "exe=/a,b")


def test_a_value_is_taken_out_and_hidden() -> None:
    found = value({"value": "hunter2"})
    assert (found.reveal(), str(found)) == ("hunter2", "***")
    with pytest.raises(OperatorError, match="not a secret with its value"):
        value({})


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a b", "x" * 64, "é"])
def test_what_cannot_be_a_name_is_not_even_asked_for(name: str) -> None:
    with pytest.raises(OperatorError) as raised:
        path_of(name)
    assert raised.value.code is ExitCode.USAGE


def test_a_name_becomes_a_path() -> None:
    assert path_of("db.main-1") == "/v1/store/secrets/db.main-1"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50))
def test_a_value_loses_one_newline_at_its_end_and_nothing_else(text: str) -> None:
    assert value_from(f"{text}\n".encode()).reveal() == text


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (b"", "standard input"),
        (b"\n", "standard input"),
        (b"\xff\xfe", "base64"),
        (b"x" * (LARGEST_BYTES + 1), "in a file"),
    ],
)
def test_what_can_be_no_value_is_refused_without_showing_it(given: bytes, remedy: str) -> None:
    with pytest.raises(OperatorError) as raised:
        value_from(given)
    assert raised.value.code is ExitCode.USAGE
    assert remedy in raised.value.remedy
    assert "xxx" not in str(raised.value)


def test_the_largest_value_is_one() -> None:
    assert value_from(b"x" * LARGEST_BYTES).reveal() == "x" * LARGEST_BYTES
