"""What goes over the wire to Redis and back."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.testbed.parts.redis import Answer, RedisRefusedError, decoded, encoded


def answer(wire: bytes) -> Answer:
    return decoded(io.BytesIO(wire))


def test_a_command_is_an_array_of_texts_with_their_lengths_in_bytes() -> None:
    assert (
        encoded(("SET", "größe", ""))
        == b"*3\r\n$3\r\nSET\r\n$7\r\ngr\xc3\xb6\xc3\x9fe\r\n$0\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (b"+PONG\r\n", "PONG"),
        (b":-7\r\n", -7),
        (b"$4\r\na\r\nb\r\n", "a\r\nb"),
        (b"$0\r\n\r\n", ""),
        (b"$-1\r\n", None),
        (b"*-1\r\n", None),
        (b"*3\r\n$1\r\na\r\n$-1\r\n*1\r\n:1\r\n", ["a", None, [1]]),
    ],
)
def test_answers_of_every_kind(wire: bytes, expected: Answer) -> None:
    assert answer(wire) == expected


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=5))
def test_what_is_encoded_is_decoded(words: list[str]) -> None:
    assert answer(encoded(tuple(words))) == words


def test_an_error_is_raised_in_redis_own_words() -> None:
    with pytest.raises(RedisRefusedError, match=r"^NOAUTH Authentication required\.$"):
        answer(b"-NOAUTH Authentication required.\r\n")


@pytest.mark.parametrize("wire", [b"", b"+PON", b"$4\r\nab", b"*2\r\n:1\r\n", b"HTTP/1.1 400\r\n"])
def test_an_answer_that_is_cut_off_or_not_redis_is_a_broken_connection(wire: bytes) -> None:
    with pytest.raises(ConnectionError):
        answer(wire)
