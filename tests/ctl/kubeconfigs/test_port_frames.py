import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.kubeconfigs.port_frames import (
    BINARY,
    CONTINUED,
    PING,
    FrameError,
    FrameReader,
    PortReader,
    accepted,
    client_frame,
)


def server_frame(opcode: int, payload: bytes, *, last: bool = True) -> bytes:
    size = len(payload)
    head = bytes(((0x80 if last else 0) | opcode,))
    if size < 126:
        head += bytes((size,))
    elif size < 1 << 16:
        head += b"\x7e" + size.to_bytes(2, "big")
    else:
        head += b"\x7f" + size.to_bytes(8, "big")
    return head + payload


def unmasked(frame: bytes) -> tuple[int, bytes]:
    """Of a frame of ours, as a server reads it (RFC 6455, 5.3), one byte after another."""
    size, begin = frame[1] & 0x7F, 2
    assert frame[1] & 0x80
    if size >= 126:
        begin = 4 if size == 126 else 10
        size = int.from_bytes(frame[2:begin], "big")
    mask, content = frame[begin : begin + 4], frame[begin + 4 :]
    assert len(content) == size
    return frame[0] & 0x0F, bytes(each ^ mask[at % 4] for at, each in enumerate(content))


def test_a_server_shows_that_it_speaks_websocket() -> None:
    # The example of RFC 6455, 1.3.
    assert accepted("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


@given(st.binary(max_size=300), st.binary(min_size=4, max_size=4))
def test_what_we_mask_a_server_reads(payload: bytes, mask: bytes) -> None:
    assert unmasked(client_frame(BINARY, payload, mask)) == (BINARY, payload)


@pytest.mark.parametrize("size", [125, 126, 65_535, 65_536])
def test_sizes_at_the_borders_are_read_and_written(size: int) -> None:
    payload = b"x" * size
    assert unmasked(client_frame(BINARY, payload, b"abcd")) == (BINARY, payload)
    assert FrameReader().feed(server_frame(BINARY, payload)) == [(BINARY, payload)]


@given(
    st.lists(st.lists(st.binary(max_size=200), min_size=1, max_size=3), max_size=5),
    st.integers(1, 40),
)
def test_messages_come_whole_however_they_are_cut(messages: list[list[bytes]], cut: int) -> None:
    sent = b""
    for parts in messages:
        for at, part in enumerate(parts):
            opcode = CONTINUED if at else BINARY
            sent += server_frame(opcode, part, last=at == len(parts) - 1)
            sent += server_frame(PING, b"?")
    reader = FrameReader()
    found = [
        one for begin in range(0, len(sent), cut) for one in reader.feed(sent[begin : begin + cut])
    ]
    assert [payload for opcode, payload in found if opcode == BINARY] == [
        b"".join(parts) for parts in messages
    ]


@given(st.lists(st.binary(max_size=50), max_size=10))
def test_bytes_of_strangers_are_read_or_refused(chunks: list[bytes]) -> None:
    reader, port = FrameReader(), PortReader(8420)
    with contextlib.suppress(FrameError):
        for chunk in chunks:
            for _, payload in reader.feed(chunk):
                port.data_in(payload)


@pytest.mark.parametrize(
    "frame",
    [
        bytes((0x80 | 0x40 | BINARY, 0)),
        bytes((0x80 | BINARY, 0x80)) + b"mask",
        b"\x82\x7f" + (1 << 40).to_bytes(8, "big"),
        server_frame(CONTINUED, b"x"),
        server_frame(BINARY, b"x", last=False) + server_frame(BINARY, b"y"),
        server_frame(PING, b"x" * 126),
        server_frame(5, b"x"),
    ],
)
def test_a_frame_that_nobody_may_send_is_refused(frame: bytes) -> None:
    with pytest.raises(FrameError):
        FrameReader().feed(frame)


def test_a_port_says_first_which_it_is_on_each_channel() -> None:
    port = PortReader(8420)
    first = (8420).to_bytes(2, "little")
    assert port.data_in(b"\0" + first) == b""
    assert port.data_in(b"\1" + first) == b""
    assert port.data_in(b"\0hello") == b"hello"
    assert port.data_in(b"\1nobody listens") == b""
    assert port.fault == "nobody listens"


@pytest.mark.parametrize("message", [b"", b"\2x", b"\0\0\0"])
def test_what_is_of_no_channel_or_of_another_port_is_refused(message: bytes) -> None:
    with pytest.raises(FrameError):
        PortReader(8420).data_in(message)
