"""The table against the numbers of google/pprof's profile.proto, as they stand on the wire."""

import pytest
from nemutator_common.profiles.pprof_messages import messages


@pytest.mark.parametrize(
    ("kind", "fields", "wire"),
    [
        ("ValueType", {"type": 1, "unit": 2}, "0801 1002"),
        ("Sample", {"location_id": [1, 300], "value": [2, 3]}, "0a03 01ac02 1202 0203"),
        (
            "Mapping",
            {
                "id": 1,
                "memory_start": 2,
                "memory_limit": 3,
                "file_offset": 4,
                "filename": 5,
                "build_id": 6,
                "has_functions": True,
                "has_filenames": True,
                "has_line_numbers": True,
                "has_inline_frames": True,
            },
            "0801 1002 1803 2004 2805 3006 3801 4001 4801 5001",
        ),
        (
            "Location",
            {"id": 1, "mapping_id": 2, "address": 3, "line": [{"function_id": 4, "line": 5}]},
            "0801 1002 1803 2204 0804 1005",
        ),
        (
            "Function",
            {"id": 1, "name": 2, "system_name": 3, "filename": 4, "start_line": -1},
            "0801 1002 1803 2004 28ffffffffffffffffff01",
        ),
        (
            "Profile",
            {
                "sample_type": [b"a"],
                "sample": [b"b"],
                "mapping": [b"c"],
                "location": [b"d"],
                "function": [b"e"],
                "string_table": [b"", b"f"],
                "time_nanos": 1,
                "duration_nanos": 2,
                "period_type": {"type": 3},
                "period": 4,
                "comment": [5],
                "default_sample_type": 6,
            },
            "0a0161 120162 1a0163 220164 2a0165 3200 320166 4801 5002 5a020803 6004 6a0105 7006",
        ),
    ],
)
def test_a_message_is_on_the_wire_what_the_format_says(
    kind: str, fields: dict[str, object], wire: str
) -> None:
    message = getattr(messages(), kind)
    assert message(**fields).SerializeToString() == bytes.fromhex(wire)
    assert message.FromString(bytes.fromhex(wire)) == message(**fields)
