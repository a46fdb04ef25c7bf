"""Commands and replies of Redis, in any pieces, and what is no reply."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.tokens.resp import (
    LARGEST,
    Push,
    RedisError,
    Reply,
    ReplyDecoder,
    RespError,
    command,
)

REPLIES: tuple[tuple[bytes, Reply], ...] = (
    (b"+OK\r\n", b"OK"),
    (b"-ERR no\r\n", RedisError("ERR no")),
    (b"!6\r\nERR no\r\n", RedisError("ERR no")),
    (b":-3\r\n", -3),
    (b"#t\r\n", 1),
    (b",1.5\r\n", b"1.5"),
    (b"_\r\n", None),
    (b"$-1\r\n", None),
    (b"*-1\r\n", None),
    (b"$4\r\na\r\nb\r\n", b"a\r\nb"),
    (b"=7\r\ntxt:abc\r\n", b"txt:abc"),
    (b"*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n", [b"0", [b"a"]]),
    (b"%1\r\n+a\r\n:1\r\n", [b"a", 1]),
    (b"~0\r\n", []),
    (b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n", Push([b"invalidate", [b"a"]])),
)


@given(st.lists(st.sampled_from(REPLIES), max_size=5), st.data())
def test_replies_come_in_any_pieces(chosen: list[tuple[bytes, Reply]], data: st.DataObject) -> None:
    content = b"".join(each for each, _ in chosen)
    decoder, found, at = ReplyDecoder(), list[Reply](), 0
    while at < len(content):
        size = data.draw(st.integers(1, 9))
        found += decoder.feed(content[at : at + size])
        at += size
    assert found == [reply for _, reply in chosen]


@pytest.mark.parametrize(
    "content",
    [
        b"HTTP/1.1 400 Bad Request\r\n",
        b":x\r\n",
        b"$-2\r\n",
        b"$99999999999\r\n",
        b"*99999999\r\n",
        b"$1\r\nab\r\n",
        b"*1\r\n" * 9,
        b":" + b"9" * 30 + b"\r\n",
        b"x" * (LARGEST + 1),
    ],
)
def test_what_is_no_reply_is_refused(content: bytes) -> None:
    with pytest.raises(RespError):
        list(ReplyDecoder().feed(content))


@given(st.binary(max_size=200))
def test_any_bytes_are_replies_or_refused(content: bytes) -> None:
    try:
        list(ReplyDecoder().feed(content))
    except RespError:
        return


def test_a_reply_in_pieces_costs_as_much_as_one_at_once() -> None:
    """It cost a hundred times as much: each piece had all before it decoded again."""
    item = b"$3\r\nabc\r\n"
    content = b"*%d\r\n%s" % (2_000, item * 2_000)

    def calls(size: int) -> int:
        count = 0

        def counted(_: object, event: str, __: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        decoder, found = ReplyDecoder(), list[Reply]()
        before = sys.getprofile()
        sys.setprofile(counted)
        try:
            for at in range(0, len(content), size):
                found += decoder.feed(content[at : at + size])
        finally:
            sys.setprofile(before)
        assert found == [[b"abc"] * 2_000]
        return count

    assert calls(100) < 3 * calls(len(content))


def test_a_command_is_a_list_of_its_words() -> None:
    assert command("SET", "ü", b"x") == b"*3\r\n$3\r\nSET\r\n$2\r\n\xc3\xbc\r\n$1\r\nx\r\n"
