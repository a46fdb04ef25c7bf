"""The messages of profile.proto (google/pprof, proto/), as protobuf's runtime builds them.

They are built at run time from the table below: generated code works only with the protobuf
runtimes of its own year, and needs protoc for each change.
"""

import functools
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

_FIELDS: Mapping[str, Mapping[str, tuple[int, str]]] = {
    # Its rows are messages, but are bytes here: the encoding is the same, and each is parsed alone.
    # Parsed all at once, 16 MiB of empty rows would become half a GiB of messages.
    "Profile": {
        "sample_type": (1, "repeated bytes"),
        "sample": (2, "repeated bytes"),
        "mapping": (3, "repeated bytes"),
        "location": (4, "repeated bytes"),
        "function": (5, "repeated bytes"),
        # Not `string`, because one name that is not UTF-8 would make the whole profile unreadable.
        "string_table": (6, "repeated bytes"),
        "time_nanos": (9, "int64"),
        "duration_nanos": (10, "int64"),
        "period_type": (11, "ValueType"),
        "period": (12, "int64"),
        "comment": (13, "repeated int64"),
        "default_sample_type": (14, "int64"),
    },
    "ValueType": {"type": (1, "int64"), "unit": (2, "int64")},
    "Sample": {
        "location_id": (1, "repeated uint64"),
        "value": (2, "repeated int64"),
        "label": (3, "repeated Label"),
    },
    "Label": {"key": (1, "int64"), "str": (2, "int64")},
    "Mapping": {
        "id": (1, "uint64"),
        "memory_start": (2, "uint64"),
        "memory_limit": (3, "uint64"),
        "file_offset": (4, "uint64"),
        "filename": (5, "int64"),
        "build_id": (6, "int64"),
        "has_functions": (7, "bool"),
        "has_filenames": (8, "bool"),
        "has_line_numbers": (9, "bool"),
        "has_inline_frames": (10, "bool"),
    },
    "Location": {
        "id": (1, "uint64"),
        "mapping_id": (2, "uint64"),
        "address": (3, "uint64"),
        "line": (4, "repeated Line"),
    },
    "Line": {"function_id": (1, "uint64"), "line": (2, "int64")},
    "Function": {
        "id": (1, "uint64"),
        "name": (2, "int64"),
        "system_name": (3, "int64"),
        "filename": (4, "int64"),
        "start_line": (5, "int64"),
    },
}

_PACKAGE = "perftools.profiles"


@functools.cache
def messages() -> Any:
    """The classes by their names, and DecodeError. protobuf is imported when a profile is first
    needed, so that an agent that makes none is 2 MiB smaller."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

    file = descriptor_pb2.FileDescriptorProto(
        name="profile.proto", package=_PACKAGE, syntax="proto3"
    )
    kinds = descriptor_pb2.FieldDescriptorProto.Type
    labels = descriptor_pb2.FieldDescriptorProto.Label
    for name, fields in _FIELDS.items():
        described = file.message_type.add(name=name)
        for field, (number, words) in fields.items():
            kind = words.removeprefix("repeated ")
            label = "LABEL_OPTIONAL" if kind == words else "LABEL_REPEATED"
            added = described.field.add(name=field, number=number, label=labels.Value(label))
            if kind in _FIELDS:
                added.type_name = f".{_PACKAGE}.{kind}"
            else:
                added.type = kinds.Value(f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    classes = {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _FIELDS
    }
    return SimpleNamespace(**classes, DecodeError=message.DecodeError)
