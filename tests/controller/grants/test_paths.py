import pytest
from nemutator_controller.grants.paths import LONGEST, MOST_SEGMENTS, spellings


def test_what_people_write_is_also_looked_for_as_the_api_has_it() -> None:
    assert spellings("secret/shop/db") == [
        "secret/shop/db",
        "secret/data/shop/db",
        "secret/shop/data/db",
    ]


def test_what_the_api_has_is_also_looked_for_as_people_write_it() -> None:
    found = spellings("team/kv/data/db")
    assert found is not None
    assert {"team/kv/data/db", "team/kv/db"} <= set(found)
    # A mount, or a document, of that name is neither.
    assert "kv/db" not in (spellings("data/kv/db") or ())
    assert "kv/db" not in (spellings("kv/db/data") or ())


@pytest.mark.parametrize("path", ["/secret/db", "secret/db/", "/secret/db/"])
def test_slashes_around_it_mean_nothing(path: str) -> None:
    assert spellings(path) == spellings("secret/db")


@pytest.mark.parametrize("path", ["", "/", "a//b", "a/" * MOST_SEGMENTS + "b", "x" * (LONGEST + 1)])
def test_what_no_agent_reads_is_nobodys_path(path: str) -> None:
    assert spellings(path) is None
