"""What is understood as the head of what our own processes ask is one to aiohttp's parser, too, and nothing else."""

import asyncio
from collections.abc import Iterator

import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http import HttpRequestParser
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.serving.token_requests import MOST_HEAD_BYTES, TokenHead, parse_token_head

TOKEN = b"Authorization: Bearer aaa.bbb-_.ccc\r\n"
REPORT = (
    b"POST /uplink/v1/reports HTTP/1.1\r\nHost: nemutator-brain.nemutator.svc:8443\r\n" + TOKEN
    + b"Content-Type: application/vnd.nemutator.columns\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\n"
    b"User-Agent: Python/3.11 aiohttp/3.14\r\nContent-Length: 20011\r\n\r\n"
)  # fmt: skip
POLL = (
    b"GET /uplink/v1/profile-requests?node=n-1.a&wait_s=25.0 HTTP/1.1\r\nHost: x\r\n"
    + TOKEN
    + b"\r\n"
)


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


def parts(head: TokenHead | None) -> tuple[object, ...] | None:
    return None if head is None else (*head[:3], head.authorization.reveal(), *head[4:])


def test_an_agent_asks_so() -> None:
    token = "Bearer aaa.bbb-_.ccc"
    kind = "application/vnd.nemutator.columns"
    report = ("POST", "/uplink/v1/reports", "", token, kind, len(REPORT), 20011)
    for data in (REPORT, REPORT + b"GET"):
        assert parts(parse_token_head(data)) == report
    poll = ("GET", "/uplink/v1/profile-requests", "node=n-1.a&wait_s=25.0", token, "", len(POLL), 0)
    assert parts(parse_token_head(POLL)) == poll
    assert token not in repr(parse_token_head(POLL))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        REPORT[:-1],
        b"\r\n" + REPORT,
        REPORT.replace(TOKEN, b""),
        REPORT.replace(b"Bearer", b"Basic"),
        REPORT.replace(b"POST", b"PUT"),
        REPORT.replace(b"1.1\r", b"1.0\r"),
        REPORT.replace(b"\r\n", b"\n"),
        REPORT.replace(b"20011", b"0"),
        REPORT.replace(b"20011", b"+4"),
        REPORT.replace(b"20011", b"020011"),
        REPORT.replace(b"20011", b"20011, 20011"),
        REPORT.replace(b"Content-Length: 20011\r\n", b""),
        REPORT.replace(b"Accept: */*", b"Content-Length: 20011"),
        REPORT.replace(b"Accept: */*", b"authorization: Bearer y"),
        REPORT.replace(b"Accept: */*", b"Content-Encoding: gzip"),
        REPORT.replace(b"Accept: */*", b"Transfer-Encoding: chunked"),
        REPORT.replace(b"Accept: */*", b"Expect: 100-continue"),
        REPORT.replace(b"Accept: */*", b"Connection: close"),
        REPORT.replace(b"Accept: */*", b"Connection: Upgrade"),
        REPORT.replace(b"Accept: */*", b"Accept : */*"),
        REPORT.replace(b"Accept: */*", b"Accept: a\r\n b"),
        REPORT.replace(b"*/*", b"\xff"),
        REPORT.replace(b"/v1", b"/%761"),
        REPORT.replace(b"/uplink", b"/x/../uplink"),
        REPORT.replace(b"/uplink", b"https://x/uplink"),
        REPORT.replace(b"*/*", b"a" * MOST_HEAD_BYTES),
        POLL.replace(TOKEN, TOKEN + b"Content-Length: 3\r\n"),
        POLL.replace(b"n-1.a", b"n%2D1"),
        POLL.replace(b"n-1.a", b"n+1"),
        POLL.replace(b"Host: x\r\n", b""),
        POLL.replace(b"Host: x", b"Host: x y"),
    ],
)
def test_whatever_else_comes_is_left_to_the_parser(data: bytes) -> None:
    assert parse_token_head(data) is None


pieces = st.sampled_from(
    [
        b"Accept: */*\r\n", b"User-Agent: a b\r\n", b"Content-Type: a/b\r\n", b"authorization:Bearer x\r\n",
        b"Connection: keep-alive\r\n", b"Connection: close\r\n", b"Content-Length: 3\r\n", b"content-length:4\r\n",
        b"Transfer-Encoding: chunked\r\n", b"\n", b"\x00", b" ", b":", b"Host: x\r\n", b"X: y\r\n",
    ]
)  # fmt: skip
heads = st.tuples(
    st.sampled_from([b"POST ", b"GET "]),
    st.sampled_from([b"/uplink", b"/a.b/-c", b"/a?x=3&y=n.1", b"/a?", b"//"]),
    st.just(b" HTTP/1.1\r\n"),
    st.lists(pieces, max_size=2).map(b"".join),
    st.sampled_from([b"Host: x\r\n", b"host:x:1\r\n", b"Host: [::1]:1\r\n", b""]),
    st.sampled_from([TOKEN, b""]),
    st.lists(pieces, max_size=2).map(b"".join),
    st.sampled_from([b"Content-Length: 5\r\n", b""]),
    st.just(b"\r\n"),
).map(b"".join)


@given(heads, st.binary(max_size=8))
def test_the_parser_agrees_about_all_that_is_understood(
    loop: asyncio.AbstractEventLoop, head: bytes, rest: bytes
) -> None:
    found = parse_token_head(head + rest)
    if found is None:
        return
    assert found.size == len(head)
    parser = HttpRequestParser(BaseProtocol(loop), loop, 1 << 16)
    messages, upgraded, tail = parser.feed_data(head + b"x" * found.length)
    ((message, payload),) = messages
    assert (message.method, message.version) == (found.method, (1, 1))
    assert message.url.path == message.url.raw_path == found.path
    assert message.url.raw_query_string == found.query
    assert message.headers["Authorization"] == found.authorization.reveal()
    assert message.headers.get("Content-Type", "") == found.content_type
    assert not any((message.should_close, message.chunked, message.upgrade, upgraded))
    assert message.compression is None
    assert payload.is_eof()
    assert payload.total_bytes == found.length
    assert tail == b""
