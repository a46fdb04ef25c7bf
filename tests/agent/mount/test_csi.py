import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.mount import csi
from nemutator_agent.mount.protobuf import MalformedMessageError, Message, fields

from tests.agent.mount.requests import CONTEXT, TOKENS, publish_message, tokens, unpublish_message
from tests.fakes.mounting import target_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def test_a_publication_is_read_as_kubelet_writes_it() -> None:
    assert csi.parse_publish(publish_message()) == csi.PublishRequest(
        volume_id="csi-1",
        target_path=target_of(),
        context=CONTEXT,
        secrets={TOKENS: tokens()},
        is_mount=True,
        has_one_writer=True,
    )


def test_secrets_are_not_shown() -> None:
    assert "a.b.c" not in repr(csi.parse_publish(publish_message()))


def test_a_block_device_is_told_from_a_directory() -> None:
    request = csi.parse_publish(publish_message(access_type=1, mode=5))
    assert (request.is_mount, request.has_one_writer) == (False, False)


def test_an_end_is_read_as_kubelet_writes_it() -> None:
    request = csi.parse_unpublish(unpublish_message())
    assert request == csi.UnpublishRequest("csi-1", target_of())


@given(st.dictionaries(texts, texts, max_size=20))
def test_every_attribute_arrives(context: dict[str, str]) -> None:
    assert csi.parse_publish(publish_message(context=context)).context == context


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_malformed(message: bytes) -> None:
    for parse in (csi.parse_publish, csi.parse_unpublish, csi.parse_registration):
        with contextlib.suppress(MalformedMessageError):
            parse(message)


@given(st.integers(0, 400), st.integers(0, 7))
def test_a_damaged_message_is_a_message_or_malformed(at: int, bit: int) -> None:
    damaged = bytearray(publish_message())
    damaged[at % len(damaged)] ^= 1 << bit
    with contextlib.suppress(MalformedMessageError):
        csi.parse_publish(bytes(damaged))


def many_fields() -> bytes:
    message = Message()
    for _ in range(csi.MOST_FIELDS + 1):
        message.message(99, b"")
    return message.encoded()


@pytest.mark.parametrize(
    "message",
    [
        b"\0" * (csi.LARGEST_REQUEST + 1),
        many_fields(),
        publish_message(context={str(number): "" for number in range(csi.MOST_ENTRIES + 1)}),
        b"\x0a\x01\xff",
        b"\x0a\x05x",
    ],
)
def test_what_is_too_much_or_no_text_is_malformed(message: bytes) -> None:
    with pytest.raises(MalformedMessageError):
        csi.parse_publish(message)


def test_registration_says_who_we_are_and_hears_the_answer() -> None:
    texts = {
        one.number: one.content.decode()
        for one in fields(csi.plugin_registration("d.io", "/csi.sock"))
    }
    assert texts == {1: "CSIPlugin", 2: "d.io", 3: "/csi.sock", 4: "1.0.0"}
    answer = Message()
    answer.number(1, 1)
    assert csi.parse_registration(answer.encoded()) == csi.RegistrationStatus(True, "")
    answer = Message()
    answer.text(2, "no")
    assert csi.parse_registration(answer.encoded()) == csi.RegistrationStatus(False, "no")


def test_answers_say_what_kubelet_asks_for() -> None:
    assert [one.content.decode() for one in fields(csi.plugin_info("d.io", "1"))] == ["d.io", "1"]
    assert [one.content.decode() for one in fields(csi.node_info("node-1"))] == ["node-1"]
    (ready,) = fields(csi.probed())
    assert [(one.number, one.value) for one in fields(ready.content)] == [(1, 1)]
