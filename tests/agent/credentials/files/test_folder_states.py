from nemutator_agent.credentials.files.folder_states import (
    FolderState,
    contents_of,
    folder_state,
    parts_of,
)
from nemutator_common.secret import Secret

WANTED = {"db": Secret("ä"), "tls": Secret("")}
SAME = {"db": "ä".encode(), "tls": b""}


def test_files_that_have_the_values_are_current_whoever_may_read_them() -> None:
    for mode in (0o555, 0o500):
        assert folder_state((SAME, mode), WANTED, ours=0o555) is FolderState.CURRENT


def test_other_values_and_missing_files_are_outdated() -> None:
    for found in ({}, {"db": b"x", "tls": b""}, {"db": "ä".encode()}):
        assert folder_state((found, 0o555), WANTED, ours=0o555) is FolderState.OUTDATED


def test_files_that_not_everybody_may_read_are_private() -> None:
    for mode in (0o500, 0o550, 0o551, 0o554):
        assert folder_state(({}, mode), WANTED, ours=0o555) is FolderState.PRIVATE


def test_files_of_a_group_are_replaced_by_such() -> None:
    for mode in (0o550, 0o555):
        assert folder_state(({}, mode), WANTED, ours=0o550) is FolderState.OUTDATED
    assert folder_state(({}, 0o500), WANTED, ours=0o550) is FolderState.PRIVATE


def test_half_a_character_is_no_reason_to_fail() -> None:
    assert contents_of({"db": Secret("a\ud800")}) == {"db": b"a\xed\xa0\x80"}


def test_without_files_there_is_nothing_to_follow() -> None:
    assert folder_state(None, {}, ours=0o555) is FolderState.EMPTY


def test_the_order_of_files_makes_no_difference_to_what_they_are_known_by() -> None:
    assert parts_of({"b": b"2", "a": b"1"}) == parts_of({"a": b"1", "b": b"2"})
    assert parts_of({"a": b"1"}) != parts_of({"a": b"2"})
