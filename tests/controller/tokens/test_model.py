"""What a store gives is bounded, and what does not count is counted."""

import pytest
from nemutator_controller.mutations.known_tokens import LONGEST_KEY, LONGEST_VALUE
from nemutator_controller.tokens.model import (
    MOST,
    MOST_BYTES,
    TokenTable,
    TokenTableMaker,
    is_key,
    table_of,
)


@pytest.mark.parametrize(
    "key", ["nemu_a", "nemu_label_value_9f", "nemu_env_db-1.x", "nemu_image_host:5000/team/img@x"]
)
def test_keys(key: str) -> None:
    assert is_key(key)


@pytest.mark.parametrize(
    "key", ["", "nemu_", "nemu__a", "a", "nemu_a b", "nemu_\n", "nemu_a" * LONGEST_KEY, "Nemu_a"]
)
def test_what_is_no_key(key: str) -> None:
    assert not is_key(key)


def test_what_does_not_count_is_counted_by_reason() -> None:
    table = table_of(
        {"nemu_a": "x", "other": "x", "nemu_b": 3, "nemu_c": "x" * (LONGEST_VALUE + 1)}
        | {"nemu_d": "\ud800"}
    )
    assert table == TokenTable({"nemu_a": "x"}, {"key": 1, "value": 3})


@pytest.mark.parametrize("document", [[], "x", None, 3])
def test_what_is_no_map_is_no_table(document: object) -> None:
    assert table_of(document) is None


def test_a_table_has_room_for_so_many() -> None:
    maker = TokenTableMaker()
    for number in range(MOST + 3):
        maker.add(f"nemu_{number}", "x")
    assert maker.is_full
    table = maker.table()
    assert (len(table.values), table.left_out) == (MOST, {"room": 3})


def test_a_table_has_room_for_so_many_bytes() -> None:
    maker = TokenTableMaker()
    for number in range(MOST_BYTES // LONGEST_VALUE + 1):
        # Of a zero character six bytes are sent.
        maker.add(f"nemu_{number}", "\0" * LONGEST_VALUE)
    sent = sum(6 * len(value) for value in maker.table().values.values())
    assert MOST_BYTES - 7 * LONGEST_VALUE < sent <= MOST_BYTES
