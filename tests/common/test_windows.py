import msgspec
import pytest
from nemutator_common.windows import (
    SymbolFrame,
    WindowPause,
    WindowReading,
    WindowSymbols,
    function_id,
    site_id,
)

from tests.fakes.windows import REMEMBER, heap_reading, symbols


@pytest.mark.parametrize(
    "record",
    [heap_reading(), symbols(), WindowPause(node="n", at=1.0, paused=True, reason="cpu", why="x")],
)
def test_records_survive_the_wire(record: WindowReading | WindowSymbols | WindowPause) -> None:
    sent = msgspec.json.decode(msgspec.json.encode(record))
    assert sent["record"] in {"reading", "symbols", "pause"}
    assert msgspec.convert(sent, type(record)) == record


def test_a_frame_is_a_list_of_three_on_the_wire() -> None:
    sent = msgspec.json.decode(msgspec.json.encode(symbols()))
    assert sent["sites"][0]["frames"][0] == ["main.remember", "/src/main.go", 79]


def test_ids_are_those_of_names_alone() -> None:
    assert site_id(REMEMBER) == site_id(list(REMEMBER)) == "d2c3a0921a45a8f7"
    assert function_id("main.main", "/src/main.go") == "417e3efc1d910313"


def test_ids_tell_neighbours_apart() -> None:
    frames = [SymbolFrame("a", "b", 1), SymbolFrame("a", "b", 11), SymbolFrame("ab", "", 1)]
    assert len({site_id([frame]) for frame in frames} | {site_id(frames), site_id(())}) == 5
    assert function_id("a", "bc") != function_id("ab", "c")


def test_a_name_that_is_no_text_has_an_id() -> None:
    assert len(function_id("\udcff", "")) == 16
