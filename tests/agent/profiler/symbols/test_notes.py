from typing import get_args

import pytest
from nemutator_agent.profiler.symbols.messages import Note
from nemutator_agent.profiler.symbols.notes import sentences


@pytest.mark.parametrize(
    "note", [*get_args(Note), "failed", "unconfined", "late", "closed", "stuck"]
)
def test_every_note_has_a_sentence(note: str) -> None:
    (line,) = sentences({"app": {note}}, gone=0, unnamed=(0, 10))
    assert "{" not in line
    assert "app" in line or note == "hidden"


def test_what_is_well_needs_no_words() -> None:
    assert sentences({"app": ()}, gone=0, unnamed=(0, 10)) == ()


def test_the_order_is_always_the_same() -> None:
    notes = {"b": ["too_much", "go_too_old"], "a": ["no_elf"]}
    lines = sentences(notes, gone=2, unnamed=(3, 10))
    assert [line.split(" ")[0] for line in lines] == ["a", "b", "b", "2", "3"]
    assert "1.18" in lines[1]
    assert sentences({}, gone=1, unnamed=(0, 0))[0].startswith("1 process ")


def test_what_is_missing_is_counted_by_file_the_most_seen_first() -> None:
    by_file = {f"lib{number}": (number, number) for number in range(1, 9)} | {"app": (2, 29229)}
    (line,) = sentences({}, gone=0, unnamed=(38, 100), by_file=by_file)
    assert line.startswith(
        "38 of 100 places have no name: 2 in app (seen 29229 times), 8 in lib8 (seen 8 times), "
    )
    assert line.endswith(", 4 in lib4 (seen 4 times), 6 in 3 more files (seen 6 times)")
