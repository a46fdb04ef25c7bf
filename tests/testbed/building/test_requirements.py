import pytest

from tests.testbed.building.requirements import only

LOCK = """\
attrs==26.1.0 \\
    --hash=sha256:01 \\
    --hash=sha256:02
    # via hypothesis
attrs-strict==1.0 \\
    --hash=sha256:03
pytest==9.2.0 \\
    --hash=sha256:04
"""


def test_an_entry_comes_with_all_of_its_hashes() -> None:
    assert only(LOCK, {"attrs"}) == LOCK[: LOCK.index("attrs-strict")]


def test_entries_come_in_the_order_of_their_names() -> None:
    assert only(LOCK, ["pytest", "attrs-strict"]) == LOCK[LOCK.index("attrs-strict") :]


def test_a_name_that_is_not_locked_is_an_error_and_nothing_else_is_installed_for_it() -> None:
    with pytest.raises(LookupError, match="pluggy"):
        only(LOCK, {"pytest", "pluggy"})
