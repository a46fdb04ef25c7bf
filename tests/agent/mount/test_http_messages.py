import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.mount.http_messages import (
    LARGEST_ANSWER,
    CredentialsResponse,
    NoAnswerError,
    parse_answer,
    request,
)


def test_a_request_says_how_long_it_is_and_that_it_is_the_last() -> None:
    assert request("PUT", "/v1/publications/csi-1", b"{}") == (
        b"PUT /v1/publications/csi-1 HTTP/1.1\r\nHost: credentials\r\nConnection: close\r\n"
        b"Content-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"
    )


@pytest.mark.parametrize("path", ["", "x", "/a b", "/a\r\nX: y", "/a?b", "/%2e"])
def test_a_path_cannot_become_something_else(path: str) -> None:
    with pytest.raises(ValueError, match="not a path"):
        request("GET", path)


@given(st.integers(100, 599), st.binary(max_size=100))
def test_an_answer_is_status_and_body(status: int, body: bytes) -> None:
    received = b"HTTP/1.1 %d Some Words\r\nServer: x\r\n\r\n%b" % (status, body)
    assert parse_answer(received) == CredentialsResponse(status, body)


@pytest.mark.parametrize(
    "received",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20\r\n\r\n",
        b"HTTP/1.1 999 X\r\n\r\n",
        b"SSH-2.0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * LARGEST_ANSWER,
    ],
)
def test_what_is_no_answer_is_none(received: bytes) -> None:
    with pytest.raises(NoAnswerError):
        parse_answer(received)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_answer_or_none(received: bytes) -> None:
    with contextlib.suppress(NoAnswerError):
        assert 100 <= parse_answer(received).status <= 599
