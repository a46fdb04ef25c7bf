"""Agents that answer nemutator-exec with anything: the command starts with whole answers alone."""

import itertools
import re
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.fakes.exec_program import PATIENCE_S, Ran, agent, http, options, run, saying

SHOW_ALL = ("/usr/bin/env", "-0")
NOT_STARTED = 125
REFUSED_AT_ONCE = "the agent's answer is not understood; remedy: let the init container's image"

names = st.from_regex(re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII), fullmatch=True)
values = st.binary(max_size=300).map(lambda value: value.replace(b"\0", b""))

GOOD = http(200, b"TOKEN=hunter2\0", "Content-Type: application/octet-stream")


def answered(folder: Path, *parts: bytes, wait_s: int = 30) -> Ran:
    with agent(folder, saying(*parts)) as where:
        return run([*options(where, wait_s=wait_s), "--", *SHOW_ALL], environment={})


def found(ran: Ran) -> dict[bytes, bytes]:
    pairs = [one.partition(b"=") for one in ran.printed.split(b"\0")[:-1]]
    return {name: value for name, _, value in pairs}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(variables=st.dictionaries(names, values, max_size=64), cut=st.integers(0, 1000))
def test_whatever_is_declared_arrives_byte_by_byte_however_it_is_cut(
    tmp_path: Path, variables: Mapping[str, bytes], cut: int
) -> None:
    body = b"".join(name.encode() + b"=" + value + b"\0" for name, value in variables.items())
    answer = http(200, body)
    ran = answered(tmp_path, answer[:cut], answer[cut:])
    assert (ran.code, ran.reported) == (0, "")
    assert found(ran) == {name.encode(): value for name, value in variables.items()}


mutations = st.lists(
    st.tuples(st.integers(0, len(GOOD)), st.integers(0, 4), st.binary(max_size=4)),
    min_size=1,
    max_size=4,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutations)
@example([(0, len(GOOD), b"")])
def test_a_damaged_answer_never_crashes_it(
    tmp_path: Path, damage: list[tuple[int, int, bytes]]
) -> None:
    answer = GOOD
    for at, removed, added in damage:
        answer = answer[:at] + added + answer[at + removed :]
    # Where it is not whole, the same is asked again.
    answers = itertools.chain([answer], itertools.repeat(http(403, b"")))
    with agent(tmp_path, lambda connection: saying(next(answers))(connection)) as where:
        ran = run([*options(where), "--", *SHOW_ALL], environment={})
    # Not by a signal; and the command started with what such an answer says, or not at all.
    assert ran.code in (0, NOT_STARTED)
    if ran.code == 0:
        assert len(found(ran)) <= 2
    else:
        assert ran.printed == b""
        assert ran.reported.startswith("nemutator-exec: ")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=2000))
def test_nor_does_any_other_answer(tmp_path: Path, answer: bytes) -> None:
    ran = answered(tmp_path, answer + b"\r\n\r\n")
    assert (ran.code, ran.printed) == (NOT_STARTED, b"")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([403, 404, 400]), st.binary(max_size=300))
def test_nor_does_a_refusal_in_other_words(tmp_path: Path, status: int, words: bytes) -> None:
    body = b'{"error": "' + words + b'", "remedy": "r", "step": "s"}'
    ran = answered(tmp_path, http(status, body))
    assert (ran.code, ran.printed) == (NOT_STARTED, b"")
    assert ran.reported.count("\n") == 1
    assert ran.reported[:-1].isascii()
    assert ran.reported[:-1].isprintable()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", id="huge"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n", id="too long"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", id="negative"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 0x4\r\n\r\nA=b\0", id="hexadecimal"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", id="no number"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\nA=b\0", id="no length"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\ncontent-LENGTH: 4\r\n\r\nA=b\0", id="twice"
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nA=b\0\r\n0\r\n\r\n",
            id="chunked",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\nA=b\0",
            id="smuggled",
        ),
        pytest.param(http(200, b"A=b\0", "Content-Encoding: gzip"), id="compressed"),
        pytest.param(http(200, b"A=b\0") + b"C=d\0", id="more than it says"),
        pytest.param(http(200, b"A=b"), id="no end"),
        pytest.param(http(200, b"A=b\0C=d"), id="no second end"),
        pytest.param(http(200, b"A=b\0\0"), id="empty variable"),
        pytest.param(http(200, b"\0"), id="only an end"),
        pytest.param(http(200, b"=b\0"), id="no name"),
        pytest.param(http(200, b"A\0"), id="no value"),
        pytest.param(http(200, b"1A=b\0"), id="digit first"),
        pytest.param(http(200, b"A B=c\0"), id="blank in a name"),
        pytest.param(http(200, b"A" * 129 + b"=c\0"), id="long name"),
        pytest.param(http(200, b"A=b\0" * 257), id="too many"),
        pytest.param(http(200, b'{"TOKEN": "hunter2"}'), id="an agent that is older"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\nContent-Length: 4\r\n\r\nA=b\0", id="bare line feed"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX\r\nContent-Length: 4\r\n\r\nA=b\0", id="no colon"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: y" + b"z" * 9000, id="long head"),
        pytest.param(b"HTTP/2.0 200 OK\r\nContent-Length: 4\r\n\r\nA=b\0", id="version"),
        pytest.param(b"HTTP/1.1 20\r\nContent-Length: 4\r\n\r\nA=b\0", id="short status"),
        pytest.param(b"\r\n\r\nA=b\0", id="no head"),
        pytest.param(b"\0" * 10_000_000, id="ten megabytes of nothing"),
        pytest.param(http(200, b"A=" + b"b" * 10_000_000 + b"\0"), id="ten megabytes"),
    ],
)
def test_what_the_agent_would_never_write_is_refused_at_once(tmp_path: Path, answer: bytes) -> None:
    ran = answered(tmp_path, answer, wait_s=60)
    assert (ran.code, ran.printed) == (NOT_STARTED, b"")
    assert ran.reported == f"nemutator-exec: {REFUSED_AT_ONCE} and the agent's be of one version\n"


def test_an_answer_that_drips_has_until_the_deadline(tmp_path: Path) -> None:
    def drip(connection: socket.socket) -> None:
        connection.recv(4096)
        # Until the other side has had enough.
        for byte in itertools.chain(b"HTTP/1.1 200 OK\r\nX: ", itertools.repeat(ord("y"), 4000)):
            connection.settimeout(PATIENCE_S)
            connection.sendall(bytes([byte]))
            if not connection_lives(connection):
                return

    with agent(tmp_path, drip) as where:
        ran = run([*options(where, wait_s=1), "--", *SHOW_ALL])
    assert (ran.code, ran.printed) == (NOT_STARTED, b"")
    assert "waited 1 s; no answer from the agent on this node: timed out" in ran.reported


def connection_lives(connection: socket.socket) -> bool:
    """Waits a moment for the other side to close."""
    connection.settimeout(0.05)
    try:
        return connection.recv(1) != b""
    except TimeoutError:
        return True


def test_an_agent_that_is_silent_has_until_the_deadline(tmp_path: Path) -> None:
    def keep_silent(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.recv(1)  # until the other side closes

    with agent(tmp_path, keep_silent) as where:
        ran = run([*options(where, wait_s=1), "--", *SHOW_ALL])
    assert ran.code == NOT_STARTED
    assert "timed out" in ran.reported
