"""What is known by its places is what one who looks through all of it finds."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.admission.known_texts import MOST_OF_A_LENGTH, KnownTexts
from nemutator_controller.admission.review_texts import ReviewText, text_of

from tests.controller.admission.test_review_texts import OTHER_UID, sent


def knowing(*bodies: bytes, most: int = 8) -> KnownTexts:
    known = KnownTexts(most=most)
    for body in bodies:
        text = text_of(body)
        assert text is not None
        known.keep(body, text)
    return known


def said(known: KnownTexts, body: bytes) -> ReviewText | None:
    """As the webhook looks for it."""
    return known.known_text(body) or text_of(body)


def test_another_pod_of_the_workload_has_the_same_key() -> None:
    first = text_of(sent())
    assert first is not None
    known = KnownTexts()
    known.keep(sent(), first)
    other = known.known_text(sent("bcdfg", "59", OTHER_UID))
    assert other is not None
    assert other.key is first.key
    assert other == text_of(sent("bcdfg", "59", OTHER_UID))


VOLUME = b'{"name":"kube-api-access-x7k2p","projected":{'
PIECES = [
    VOLUME,
    VOLUME.replace(b"x7k2p", b"bcdfg"),
    VOLUME.replace(b"x7k2p", b"BCDFG"),
    b'"kube-api-access-x7k2p"',
    b'"kube-api-access-bcdfg"',
    b'"kube-api-access-kube-api-access-x7k2p"',
    b'"managedFields":[{',
    b'"apiVersion":"v1","time":"2026-11-24T18:49:32Z","fieldsType":"FieldsV1","fieldsV1":{',
    b'"apiVersion":"v1","time":"2026-11-24T18:49:59Z","fieldsType":"FieldsV1","fieldsV1":{',
    b'"apiVersion":"v1","time":"2026-11-24 18:49:59Z","fieldsType":"FieldsV1","fieldsV1":{',
    b'"apiVersion"',
    b"{",
    b"x7k2p",
    b"x7k2q",
]


@given(st.data())
def test_whatever_is_known_nobody_is_told_anything_else(data: st.DataObject) -> None:
    """Reviews of the same pieces, of which some are others, and single bytes as well."""
    pieces = data.draw(st.lists(st.sampled_from(PIECES), max_size=8))
    known = KnownTexts()
    for _ in range(3):
        body = sent()[: data.draw(st.sampled_from([150, len(sent())]))] + b"".join(pieces)
        if data.draw(st.booleans()):
            at = data.draw(st.integers(0, len(body) - 1))
            byte = data.draw(st.sampled_from(b'a7-x"\\{Z '))
            body = body[:at] + bytes([byte]) + body[at + 1 :]
        whole = text_of(body)
        assert said(known, body) == whole
        if whole is not None:
            known.keep(body, whole)
            assert said(known, body) == whole
        if pieces:
            at = data.draw(st.integers(0, len(pieces) - 1))
            alike = [each for each in PIECES if len(each) == len(pieces[at])]
            pieces[at] = data.draw(st.sampled_from(alike))


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        (b'"uid":"7', b'"uid":"G'),
        (b"18:49:32Z", b"18:49:32z"),
        (b'"name":"kube-api-access-x7k2p","projected"', b'"name":"kube-api-access-x7k2P","projected"'),
        (b'"name":"kube-api-access-x7k2p","projected"', b'"name":"kube-api-access-x7k2q","projected"'),
        (b'"image":"a:1"', b'"image":"a:2"'),
    ],
)  # fmt: skip
def test_one_byte_that_may_not_be_there_is_not_known(before: bytes, behind: bytes) -> None:
    changed = sent().replace(before, behind)
    assert changed != sent()
    known = knowing(sent())
    found, first = said(known, changed), said(known, sent())
    assert first is not None
    assert found == text_of(changed)
    assert found is None or found.key != first.key


def test_what_names_such_a_volume_elsewhere_is_not_known_by_its_places() -> None:
    body = sent(container={"name": "kube-api-access-bcdfg"})
    known = knowing(body)
    assert len(known) == 0
    other = body.replace(b"x7k2p", b"bcdfg")
    assert said(known, other) is None


def test_no_more_is_kept_than_allowed() -> None:
    bodies = [sent(metadata={"labels": {"app": "x" * size}}) for size in range(1, 12)]
    known = knowing(*bodies, most=4)
    assert len(known) == 4
    assert [said(known, each) for each in bodies] == [text_of(each) for each in bodies]


def test_of_one_length_the_last_few_are_kept() -> None:
    names = ["".join(each) for each in itertools.product("ab", repeat=4)]
    bodies = [sent(metadata={"labels": {"app": name}}) for name in names]
    known = knowing(*bodies, most=100)
    assert len(known) == MOST_OF_A_LENGTH
    assert known.known_text(bodies[-1]) is not None
    assert known.known_text(bodies[0]) is None
    last, first = said(known, bodies[-1]), said(known, bodies[0])
    assert last == text_of(bodies[-1])
    assert first == text_of(bodies[0])
    assert len(knowing(*bodies, *bodies, most=3)) == 3
