import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.mount.protobuf import (
    BYTES,
    FIXED_32,
    FIXED_64,
    MalformedMessageError,
    Message,
    ProtobufField,
    fields,
    read_varint,
    write_varint,
)

INTEGERS = st.integers(0, 2**64 - 1)
NUMBERS = st.integers(1, 2**29 - 1)


def test_the_bytes_are_those_of_the_specification() -> None:
    message = Message()
    message.number(1, 150)
    message.text(2, "testing")
    assert message.encoded() == bytes.fromhex("089601 120774657374696e67")


@given(INTEGERS)
def test_a_number_comes_back(value: int) -> None:
    out = bytearray()
    write_varint(out, value)
    assert read_varint(bytes(out), 0) == (value, len(out))
    assert len(out) <= 10


@given(st.lists(st.tuples(NUMBERS, st.one_of(INTEGERS.filter(bool), st.binary()))))
def test_a_message_comes_back(content: list[tuple[int, int | bytes]]) -> None:
    message = Message()
    for number, value in content:
        if isinstance(value, int):
            message.number(number, value)
        else:
            message.message(number, value)
    assert [
        (field.number, field.content if field.kind == BYTES else field.value)
        for field in fields(message.encoded())
    ] == content


def test_zero_and_empty_are_what_is_not_written() -> None:
    message = Message()
    message.number(1, 0)
    message.text(2, "")
    assert message.encoded() == b""
    message.message(4, b"")
    assert list(fields(message.encoded())) == [ProtobufField(4, BYTES, 0, b"")]


def test_fixed_numbers_are_read() -> None:
    message = (
        bytes([1 << 3 | FIXED_32]) + b"\1\0\0\0" + bytes([2 << 3 | FIXED_64]) + b"\2" + bytes(7)
    )
    assert [(one.number, one.kind, one.value) for one in fields(message)] == [
        (1, FIXED_32, 1),
        (2, FIXED_64, 2),
    ]


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
def test_bytes_that_are_not_a_message_are_refused(message: bytes) -> None:
    with pytest.raises(MalformedMessageError):
        list(fields(message))


@given(st.binary())
def test_noise_is_a_message_or_is_refused(noise: bytes) -> None:
    with contextlib.suppress(MalformedMessageError):
        assert len(list(fields(noise))) <= len(noise) / 2
