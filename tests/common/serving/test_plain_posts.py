"""What is understood as the head of a plain post is one to aiohttp's parser, too, and nothing else."""

import asyncio
from collections.abc import Iterator

import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import HttpRequestParser
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.serving.plain_posts import (
    MOST_HEAD_BYTES,
    ArrivingPost,
    PostHead,
    parse_post_head,
)

API_SERVER = (
    b"POST /mutate?timeout=3s HTTP/1.1\r\nHost: admission.nemutator.svc:443\r\n"
    b"User-Agent: kube-apiserver-admission\r\nContent-Length: 4077\r\nAccept: application/json, */*\r\n"
    b"Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n"
)


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


def test_an_api_server_asks_plainly() -> None:
    head = PostHead("/mutate", len(API_SERVER), 4077)
    assert parse_post_head(API_SERVER) == head
    assert parse_post_head(API_SERVER + b'{"kind":"AdmissionReview"') == head
    named = API_SERVER.replace(b"admission.nemutator.svc:443", b"[fe80::1]:8443")
    assert parse_post_head(named) is not None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        API_SERVER[:-1],
        b"\r\n" + API_SERVER,
        API_SERVER.replace(b"POST", b"PUT"),
        API_SERVER.replace(b"1.1\r", b"1.0\r"),
        API_SERVER.replace(b"\r\n", b"\n"),
        API_SERVER.replace(b"4077", b"0"),
        API_SERVER.replace(b"4077", b"+4"),
        API_SERVER.replace(b"4077", b"04077"),
        API_SERVER.replace(b"4077", b"4_077"),
        API_SERVER.replace(b"4077", b"1" * 20),
        API_SERVER.replace(b"4077", b"4077, 4077"),
        API_SERVER.replace(b"Accept: application/json, */*", b"Content-Length: 4077"),
        API_SERVER.replace(b"Content-Length: 4077\r\n", b""),
        API_SERVER.replace(b"Accept-Encoding: gzip", b"Content-Encoding: gzip"),
        API_SERVER.replace(b"Accept-Encoding: gzip", b"Transfer-Encoding: chunked"),
        API_SERVER.replace(b"Accept-Encoding: gzip", b"Expect: 100-continue"),
        API_SERVER.replace(b"Accept-Encoding: gzip", b"Connection: close"),
        API_SERVER.replace(b"Accept-Encoding: gzip", b"Connection: Upgrade"),
        API_SERVER.replace(b"Accept-Encoding: gzip", b"Authorization: Bearer x"),
        API_SERVER.replace(b"Accept-Encoding:", b"Accept-Encoding :"),
        API_SERVER.replace(b"gzip", b"a\r\n b"),
        API_SERVER.replace(b"gzip", b"\xff"),
        API_SERVER.replace(b"/mutate?", b"/mut%61te?"),
        API_SERVER.replace(b"/mutate?", b"/x/../mutate?"),
        API_SERVER.replace(b"/mutate?", b"https://x/mutate?"),
        API_SERVER.replace(b"gzip", b"a" * MOST_HEAD_BYTES),
    ],
)
def test_whatever_else_comes_is_left_to_the_parser(data: bytes) -> None:
    assert parse_post_head(data) is None


pieces = st.sampled_from(
    [
        b"Accept: */*\r\n", b"User-Agent: a b\r\n", b"Content-Type: a/b\r\n", b"Traceparent: 00-a-b-01\r\n",
        b"Connection: keep-alive\r\n", b"Connection: close\r\n", b"Content-Length: 3\r\n", b"content-length:4\r\n",
        b"Transfer-Encoding: chunked\r\n", b"\n", b"\x00", b" ", b":", b"Host: x\r\n", b"X: y\r\n",
    ]
)  # fmt: skip
heads = st.tuples(
    st.just(b"POST "),
    st.sampled_from([b"/mutate", b"/a.b/-c", b"/a?timeout=3s", b"/a?", b"//"]),
    st.just(b" HTTP/1.1\r\n"),
    st.lists(pieces, max_size=3).map(b"".join),
    st.sampled_from([b"Host: x\r\n", b"host:x:1\r\n", b"Host: [::1]:1\r\n", b""]),
    st.lists(pieces, max_size=3).map(b"".join),
    st.sampled_from([b"Content-Length: 5\r\n", b""]),
    st.lists(pieces, max_size=2).map(b"".join),
    st.just(b"\r\n"),
).map(b"".join)


@given(heads, st.binary(max_size=8))
def test_the_parser_agrees_about_all_that_is_understood(
    loop: asyncio.AbstractEventLoop, head: bytes, rest: bytes
) -> None:
    found = parse_post_head(head + rest)
    if found is None:
        return
    assert found.size == len(head)
    parser = HttpRequestParser(BaseProtocol(loop), loop, 1 << 16)
    messages, upgraded, tail = parser.feed_data(head + b"x" * found.length)
    ((message, payload),) = messages
    assert (message.method, message.version) == ("POST", (1, 1))
    assert message.url.path == message.url.raw_path == found.path
    assert not any((message.should_close, message.chunked, message.upgrade, upgraded))
    assert message.compression is None
    assert payload.is_eof()
    assert payload.total_bytes == found.length
    assert tail == b""


@given(st.lists(st.binary(min_size=1, max_size=9), min_size=1))
def test_a_post_is_whole_once_nothing_is_missing_however_it_is_cut(pieces: list[bytes]) -> None:
    sent = b"".join(pieces)
    arriving = ArrivingPost(PostHead("/mutate", 1, len(sent) - 1))
    for number, piece in enumerate(pieces, start=1):
        assert arriving.missing > 0
        arriving.add(piece)
        assert arriving.is_first_piece == (number == 1)
    assert (arriving.missing, arriving.received) == (0, sent)
    assert arriving.body == sent[1:]
    arriving.add(b"GET")
    assert arriving.missing == -3
