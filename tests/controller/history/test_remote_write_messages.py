from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.history.remote_write_messages import (
    RemoteWriteUnavailableError,
    body,
    labels,
    literals,
    series,
    varint,
)

from tests.fakes import remote_write

label_values = st.dictionaries(
    st.text("abcdefg_", min_size=1, max_size=9), st.text(max_size=300), max_size=5
)


@given(st.integers(0, 2**63))
def test_a_number_is_read_back(number: int) -> None:
    assert remote_write.varint(varint(number), 0) == (number, len(varint(number)))


@given(st.binary(max_size=300), st.sampled_from([0, 1, 1 << 16, (1 << 16) + 1, 200_000]))
def test_a_block_of_literals_is_read_back(content: bytes, more: int) -> None:
    whole = content + bytes(more)
    block = literals(whole)
    assert remote_write.unsnapped(block) == whole
    assert len(block) <= len(whole) + 3 * (len(whole) // (1 << 16) + 1) + 5


@given(
    st.lists(st.tuples(label_values, st.floats(allow_nan=False), st.integers(0, 2**53)), max_size=5)
)
def test_series_are_read_back(given_series: list[tuple[dict[str, str], float, int]]) -> None:
    written = body(series(labels(names), value, at) for names, value, at in given_series)
    assert list(remote_write.samples(written)) == [
        (tuple(sorted((n, v) for n, v in names.items() if v)), value, at)
        for names, value, at in given_series
    ]


def test_a_known_message_is_what_the_format_says() -> None:
    message = series(labels({"__name__": "up"}), 1.0, 2)
    assert message.hex() == "0a1d0a0e0a085f5f6e616d655f5f12027570120b09000000000000f03f1002"
    assert literals(b"abc").hex() == "03f40200616263"


def test_a_receiver_may_ask_to_be_left_alone_for_a_while() -> None:
    assert RemoteWriteUnavailableError("busy").retry_after_s == 0.0
    assert RemoteWriteUnavailableError("busy", retry_after_s=7.0).retry_after_s == 7.0
