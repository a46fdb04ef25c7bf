import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire_columns import SeriesName, SeriesNames
from nemutator_controller.ingest.series_tables import (
    KEPT_NAMINGS,
    SeriesTable,
    SeriesTables,
    UnknownSeriesError,
)
from nemutator_controller.ingest.usage_points import Series

texts = st.none() | st.text(max_size=5)
names = st.tuples(st.text(max_size=8), texts, texts, texts)


@given(st.lists(st.lists(names, max_size=4), max_size=5))
def test_what_was_packed_comes_back(packs: list[list[SeriesName]]) -> None:
    table = SeriesTable()
    for pack in packs:
        table.add(pack)
    every = [Series(*name) for pack in packs for name in pack]
    assert list(table) == every
    assert table[1:3] == every[1:3]
    table.close()
    assert [table[number] for number in reversed(range(len(every)))] == every[::-1]
    with pytest.raises(IndexError):
        table[len(every)]


def test_who_reads_all_names_leaves_nothing_unpacked_for_others() -> None:
    table = SeriesTable()
    table.add([("/a", None, None, None)])
    table.add([("/b", None, None, None)])
    reading = iter(table)
    assert next(reading).path == "/a"
    table.close()
    table.add([("/c", None, None, None)])
    assert [one.path for one in reading] == ["/b", "/c"]
    assert vars(table)["_open"] is None


def named(first: int, *paths: str, naming: int = 1) -> list[SeriesNames]:
    return [SeriesNames(naming, first, tuple((path, None, None, None) for path in paths))]


def paths(tables: SeriesTables, node: str = "n", epoch: str = "e", naming: int = 1) -> list[str]:
    return [one.path for one in tables.table(node, epoch, naming)]


def test_names_are_added_and_those_that_are_there_are_left() -> None:
    tables = SeriesTables(most_nodes=2)
    tables.add("n", "e", named(0, "/a", "/b"))
    before = tables.table("n", "e", 1)
    tables.add("n", "e", named(1, "/b", "/c"))
    tables.add("n", "e", named(0, "/a"))
    assert paths(tables) == ["/a", "/b", "/c"]
    assert tables.table("n", "e", 1) is before
    assert tables.named("n", "e") == (1, 3)


def test_a_gap_before_names_is_told() -> None:
    tables = SeriesTables(most_nodes=2)
    with pytest.raises(UnknownSeriesError):
        tables.add("n", "e", named(1, "/b"))
    with pytest.raises(UnknownSeriesError):
        tables.table("n", "e", 1)
    assert tables.named("n", "e") == (0, 0)


def test_another_epoch_has_other_names() -> None:
    tables = SeriesTables(most_nodes=2)
    tables.add("n", "e", named(0, "/a"))
    tables.add("n", "f", named(0, "/b"))
    assert paths(tables, epoch="f") == ["/b"]
    assert tables.named("n", "e") == (0, 0)
    with pytest.raises(UnknownSeriesError):
        tables.table("n", "e", 1)


def test_the_last_namings_are_kept() -> None:
    tables = SeriesTables(most_nodes=2)
    for naming in range(1, 5):
        tables.add("n", "e", named(0, f"/{naming}", naming=naming))
    assert paths(tables, naming=4) == ["/4"]
    assert paths(tables, naming=5 - KEPT_NAMINGS) == ["/3"]
    assert tables.named("n", "e") == (4, 1)
    with pytest.raises(UnknownSeriesError):
        tables.table("n", "e", 2)


def test_the_nodes_that_were_heard_of_last_are_kept() -> None:
    tables = SeriesTables(most_nodes=2)
    for node in ("a", "b", "a", "c"):
        tables.add(node, "e", named(0, "/x"))
    assert tables.named("a", "e") == tables.named("c", "e") == (1, 1)
    assert tables.named("b", "e") == (0, 0)
