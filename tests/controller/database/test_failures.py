import sqlite3
from pathlib import Path

import pytest
from nemutator_controller.database.failures import (
    AGAIN,
    EXPLANATIONS,
    REMEDIES,
    Reason,
    StoreUnavailableError,
    reason_of,
)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("SQLITE_FULL", "full"),
        ("SQLITE_IOERR_WRITE", "io"),
        ("SQLITE_BUSY_SNAPSHOT", "busy"),
        ("SQLITE_READONLY_DBMOVED", "read_only"),
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
