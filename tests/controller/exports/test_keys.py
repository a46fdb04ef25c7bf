import pytest
from nemutator_controller.exports.keys import (
    ExportPosition,
    file_key,
    position,
    position_key,
)


def test_a_file_is_found_by_cluster_source_day_and_hour() -> None:
    key = file_key("east", "usage", "csv.gz", 1_700_000_000 // 3600)
    assert key == "exports/east/usage/2023-11-14/22.csv.gz"
    assert file_key("", "usage", "csv.gz", 0) == "exports/cluster/usage/1970-01-01/00.csv.gz"
    assert position_key("", "usage") == "exports/cluster/usage/position.json"


@pytest.mark.parametrize("content", [None, b"", b"{}", b"[1]", b'{"hour": "x"}', b"\xff"])
def test_what_says_no_hour_is_no_position(content: bytes | None) -> None:
    assert position(content) is None
    assert position(b'{"hour": 7, "more": 1}') == ExportPosition(7)
