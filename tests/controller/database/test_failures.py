import sqlite3
from pathlib import Path

import pytest
from nemutator_controller.database.failures import (
    AGAIN,
    EXPLANATIONS,
    POSTGRES_EXPLANATIONS,
    POSTGRES_REMEDIES,
    REMEDIES,
    Reason,
    StoreUnavailableError,
    postgres_reason_of,
    reason_of,
)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("SQLITE_FULL", "full"),
        ("SQLITE_IOERR_WRITE", "io"),
        ("SQLITE_BUSY_SNAPSHOT", "busy"),
        ("SQLITE_READONLY_DBMOVED", "gone"),
        ("SQLITE_READONLY_DIRECTORY", "read_only"),
        ("SQLITE_NOTADB", "damaged"),
        ("SQLITE_CORRUPT_INDEX", "damaged"),
        ("SQLITE_CANTOPEN", "io"),
        ("SQLITE_CONSTRAINT_PRIMARYKEY", "other"),
    ],
)
def test_a_result_code_has_a_reason(code: str, reason: Reason) -> None:
    error = sqlite3.OperationalError("…")
    error.sqlite_errorname = code
    assert reason_of(error) == reason


def test_an_error_of_another_kind_is_other() -> None:
    assert reason_of(ValueError()) == "other"
    assert reason_of(None) == "other"


def test_every_reason_can_be_explained() -> None:
    for reason, explanation in EXPLANATIONS.items():
        error = StoreUnavailableError(reason)
        assert str(error) == explanation.format("the data directory")
        assert error.remedy == REMEDIES.get(reason, AGAIN).format("the data directory")


def test_who_finds_no_space_is_told_where_to_make_room() -> None:
    full = StoreUnavailableError("full", Path("/srv/{data}"))
    assert str(full).startswith("no space left on the disk of /srv/{data}")
    assert full.remedy.startswith("make room on the disk of /srv/{data}")
    assert full.full
    assert not StoreUnavailableError("busy").full
    assert "ask again later" in StoreUnavailableError("deadline").remedy


class PostgresSaysError(Exception):
    """As the errors of psycopg are: with a code of the server, or with none."""

    def __init__(self, state: str | None, words: str = "…") -> None:
        super().__init__(words)
        self.sqlstate = state


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("08006", "gone"),
        ("57P01", "gone"),
        ("57014", "deadline"),
        ("25006", "read_only"),
        ("53100", "full"),
        ("53200", "other"),  # out of memory, which no room on a disk helps
        ("53300", "busy"),
        ("55P03", "busy"),
        ("28P01", "denied"),
        ("42501", "denied"),
        ("40001", "conflict"),
        ("23505", "conflict"),
        ("58030", "io"),
        ("XX001", "damaged"),
        ("3F000", "form"),
        ("42703", "form"),
        ("42P01", "form"),
        ("42601", "other"),
    ],
)
def test_a_state_of_postgresql_has_a_reason(state: str, reason: Reason) -> None:
    assert postgres_reason_of(PostgresSaysError(state)) == reason


def test_a_connection_that_was_not_made_is_judged_by_the_words_of_the_server() -> None:
    refused = 'FATAL:  password authentication failed for user "x"'
    assert postgres_reason_of(PostgresSaysError(None, refused)) == "denied"
    missing = 'FATAL:  database "x" does not exist'
    assert postgres_reason_of(PostgresSaysError(None, missing)) == "denied"
    for none_left in (
        "FATAL:  sorry, too many clients already",
        'FATAL:  too many connections for role "x"',
        "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute",
    ):
        assert postgres_reason_of(PostgresSaysError(None, none_left)) == "busy"
    assert postgres_reason_of(PostgresSaysError(None, "Connection refused")) == "gone"
    assert postgres_reason_of(PostgresSaysError(None, "connection timeout expired")) == "deadline"


def test_every_reason_can_be_explained_of_postgresql() -> None:
    for reason, explanation in POSTGRES_EXPLANATIONS.items():
        error = StoreUnavailableError(reason, "postgresql://u@h:5432/d", "postgresql")
        assert str(error) == explanation.format("postgresql://u@h:5432/d")
        action = POSTGRES_REMEDIES.get(reason)
        remedy = AGAIN if action is None else f"{action}, then ask again"
        assert error.remedy == remedy.format("postgresql://u@h:5432/d")
