"""What is understood as a plain request is one to aiohttp's parser, too, and nothing else."""

import asyncio
from collections.abc import Iterator

import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import HttpRequestParser
from aiohttp.streams import EMPTY_PAYLOAD
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.serving.plain_requests import MOST_BYTES, PlainRequest, parse_plain

CURL = (
    b"GET /v1/secret/db?raw=1 HTTP/1.1\r\nHost: nemutator\r\nUser-Agent: curl/7.88.1\r\n"
    b"Accept: */*\r\n\r\n"
)
GO = b"GET /v1/secret/db HTTP/1.1\r\nHost: x\r\nUser-Agent: Go-http-client/1.1\r\nAccept-Encoding: gzip\r\n\r\n"


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


def test_requests_of_usual_clients_are_plain() -> None:
    assert parse_plain(CURL) == PlainRequest("/v1/secret/db", "raw=1")
    assert parse_plain(GO) == PlainRequest("/v1/secret/db", "")
    assert parse_plain(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n") == PlainRequest("/a", "")
    kept = b"GET /a HTTP/1.1\r\nhost:localhost:80\r\nconnection: Keep-Alive\r\n\r\n"
    assert parse_plain(kept) == PlainRequest("/a", "")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        CURL[:-1],
        CURL[:-2],
        CURL + b"x",
        CURL + CURL,
        CURL.replace(b"\r\n\r\n", b"\r\nAccept: a\r\naccept: b\r\n\r\n"),
        b"GET /v1/secret/db HTTP/1.1\r\nHost: x\r\nUser-Agent: a\r\nUser-Agent: a\r\n\r\n",
        b"\r\n" + CURL,
        CURL.replace(b"GET", b"HEAD"),
        CURL.replace(b"GET", b"POST"),
        CURL.replace(b"GET", b"get"),
        CURL.replace(b"1.1\r", b"1.0\r"),
        CURL.replace(b"\r\n", b"\n"),
        CURL.replace(b"Accept:", b"Accept :"),
        CURL.replace(b"Accept: */*", b"Accept: \x00"),
        CURL.replace(b"Accept: */*", b"Accept: \xff"),
        CURL.replace(b"Accept: */*", b"Accept: a\r\n b"),
        CURL.replace(b"Accept: */*", b"Content-Length: 0"),
        CURL.replace(b"Accept: */*", b"Transfer-Encoding: chunked"),
        CURL.replace(b"Accept: */*", b"Expect: 100-continue"),
        CURL.replace(b"Accept: */*", b"Upgrade: websocket"),
        CURL.replace(b"Accept: */*", b"Connection: close"),
        CURL.replace(b"Accept: */*", b"Connection: upgrade"),
        CURL.replace(b"Accept: */*", b"Cookie: a=b"),
        CURL.replace(b"Accept: */*", b"X-Vault-Request: true"),
        CURL.replace(b"Accept: */*", b"Host: y"),
        CURL.replace(b"Host: nemutator\r\n", b""),
        CURL.replace(b"nemutator", b"u:p@host"),
        CURL.replace(b"/v1/secret/db", b"/v1/secret/%64b"),
        CURL.replace(b"/v1/secret/db", b"/v1/secret/../db"),
        CURL.replace(b"/v1/secret/db", b"/v1/secret/./db"),
        CURL.replace(b"/v1/secret/db", b"/v1//secret/db"),
        CURL.replace(b"/v1/secret/db", b"/v1/secret/"),
        CURL.replace(b"/v1/secret/db", b"/v1/secret/db\x00"),
        CURL.replace(b"/v1/secret/db", b"/v1/secret/d\xc3\xa9"),
        CURL.replace(b"/v1/secret/db", b"http://x/v1/secret/db"),
        CURL.replace(b"/v1/secret/db", b"*"),
        CURL.replace(b"/v1/secret/db", b"/" + b"a" * MOST_BYTES),
        CURL.replace(b"raw=1", b"raw=1&raw=1"),
        CURL.replace(b"raw=1", b""),
        CURL.replace(b"raw=1", b"raw=1#x"),
        CURL.replace(b"\r\n\r\n", b"\r\n" + b"Accept: x\r\n" * 9 + b"\r\n"),
    ],
)
def test_whatever_else_comes_is_left_to_the_parser(data: bytes) -> None:
    assert parse_plain(data) is None


pieces = st.sampled_from(
    [
        b"GET ", b"HEAD ", b"/", b"/v1/secret/db", b"/a-b_c.d", b"?", b"raw=1", b" HTTP/1.1\r\n",
        b" HTTP/1.0\r\n", b"Host: x\r\n", b"host:x:1\r\n", b"Accept: */*\r\n", b"User-Agent: a b\r\n",
        b"Connection: keep-alive\r\n", b"Connection: close\r\n", b"Content-Length: 3\r\n", b"\r\n",
        b"Transfer-Encoding: chunked\r\n", b"\n", b"\x00", b" ", b"%2e", b"..", b":", b"abc",
    ]
)  # fmt: skip
usual = st.tuples(
    st.just(b"GET "),
    st.sampled_from([b"/v1/secret/db", b"/a", b"/a.b/-c"]),
    st.sampled_from([b"", b"?raw=1", b"?a", b"?=", b"?--"]),
    st.just(b" HTTP/1.1\r\n"),
    st.lists(pieces, max_size=3).map(b"".join),
    st.just(b"Host: x\r\n"),
    st.lists(pieces, max_size=3).map(b"".join),
    st.just(b"\r\n"),
).map(b"".join)


@given(st.one_of(usual, st.lists(pieces, max_size=12).map(b"".join), st.binary(max_size=100)))
def test_the_parser_agrees_about_all_that_is_understood(
    loop: asyncio.AbstractEventLoop, data: bytes
) -> None:
    request = parse_plain(data)
    if request is None:
        return
    parser = HttpRequestParser(BaseProtocol(loop), loop, 1 << 16)
    messages, upgraded, tail = parser.feed_data(data)
    ((message, payload),) = messages
    target = f"{request.path}?{request.query}" if request.query else request.path
    assert (message.method, message.path, message.version) == ("GET", target, (1, 1))
    assert message.url.path == request.path
    assert message.url.raw_path == request.path
    assert not message.should_close
    assert not message.chunked
    assert not message.upgrade
    assert payload is EMPTY_PAYLOAD
    assert not upgraded
    assert tail == b""
