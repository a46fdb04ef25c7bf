import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.protobuf import (
    BYTES,
    FIXED_32,
    FIXED_64,
    VARINT,
    Field,
    MalformedMessageError,
    Message,
    fields,
    numbers,
    read_varint,
    signed,
    text,
    write_varint,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.integers(1, 2**29 - 1)


def test_the_bytes_are_those_of_the_specification() -> None:
    message = Message()
    message.number(1, 150)
    message.text(2, "testing")
    message.packed(4, [3, 270, 86942])
    assert message.encoded() == bytes.fromhex("089601 120774657374696e67 2206038e029ea705")


@given(INT64)
def test_a_number_comes_back(value: int) -> None:
    out = bytearray()
    write_varint(out, value)
    raw, end = read_varint(bytes(out), 0)
    assert (signed(raw), end) == (value, len(out))
    assert len(out) <= 10


@given(st.lists(st.tuples(NUMBERS, st.one_of(INT64.filter(bool), st.binary()))))
def test_a_message_comes_back(content: list[tuple[int, int | bytes]]) -> None:
    message = Message()
    for number, value in content:
        if isinstance(value, int):
            message.number(number, value)
        else:
            message.message(number, value)
    assert [
        (field.number, field.content if field.kind == BYTES else signed(field.value))
        for field in fields(message.encoded())
    ] == content


@given(st.lists(INT64))
def test_packed_numbers_come_back(values: list[int]) -> None:
    message = Message()
    message.packed(3, values)
    assert [
        signed(value) for field in fields(message.encoded()) for value in numbers(field)
    ] == values


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_maps_are_messages_of_key_and_value(entries: list[tuple[str, str]]) -> None:
    message = Message()
    message.mapping(5, entries)
    back = []
    for field in fields(message.encoded()):
        inner = {within.number: text(within) for within in fields(field.content)}
        back.append((inner.get(1, ""), inner.get(2, "")))
    assert back == entries


def test_zero_and_empty_are_what_is_not_written() -> None:
    message = Message()
    message.number(1, 0)
    message.text(2, "")
    message.packed(3, [])
    assert message.encoded() == b""
    message.message(4, b"")
    assert list(fields(message.encoded())) == [Field(4, BYTES, 0, b"")]


def test_fixed_numbers_are_read() -> None:
    message = (
        bytes([1 << 3 | FIXED_32]) + b"\1\0\0\0" + bytes([2 << 3 | FIXED_64]) + b"\2" + bytes(7)
    )
    assert [(one.number, one.kind, one.value) for one in fields(message)] == [
        (1, FIXED_32, 1),
        (2, FIXED_64, 2),
    ]
    assert list(numbers(Field(1, VARINT, 7, b""))) == [7]


@pytest.mark.parametrize(
    "message",
    [
        b"\x08",  # a number that is not there
        b"\x08" + b"\xff" * 11,  # one without end
        b"\x12\x05ab",  # a text longer than the message
        b"\x0d\x01",  # half of a fixed number
        b"\x0b",  # a group
        b"\x00\x00",  # field 0
    ],
)
def test_what_is_no_message_is_refused(message: bytes) -> None:
    with pytest.raises(MalformedMessageError):
        list(fields(message))


@given(st.binary())
def test_noise_is_a_message_or_is_refused(noise: bytes) -> None:
    with contextlib.suppress(MalformedMessageError):
        assert len(list(fields(noise))) <= len(noise) / 2
