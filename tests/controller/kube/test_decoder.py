"""One bad object costs one object; nothing that is no list is taken for an empty one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.decoder import (
    Added,
    Bookmark,
    Decoder,
    Deleted,
    Failed,
    NotAListError,
    Undecodable,
)
from nemutator_controller.kube.objects import Object, Pod

from tests.controller.kube.pods import bookmark, event, expired, pod, pods

DECODER = Decoder(Pod)
BAD = {**pod("bad", 7), "spec": {"containers": 3}}


def test_an_event_becomes_its_shape() -> None:
    (got,) = DECODER.events(event("ADDED", pod("a", 5, nodeName="n1")))
    assert isinstance(got, Added)
    assert (got.object.metadata.key, got.object.spec.node_name) == ("team/a", "n1")


def test_a_bookmark_with_null_containers_is_a_bookmark() -> None:
    (got,) = DECODER.events(bookmark(9, end=True))
    assert isinstance(got, Bookmark)
    assert got.ends_initial_events
    assert got.object.metadata.resource_version == "9"


def test_an_error_event_is_no_object() -> None:
    (got,) = DECODER.events(expired())
    assert isinstance(got, Failed)
    assert got.object.code == 410


def test_one_undecodable_event_is_named_with_its_version() -> None:
    (got,) = DECODER.events(event("MODIFIED", BAD))
    assert isinstance(got, Undecodable)
    assert (got.key, got.resource_version) == ("team/bad", "7")
    assert "containers" in got.why


def test_an_undecodable_object_can_still_be_deleted() -> None:
    (got,) = DECODER.events(event("DELETED", BAD))
    assert isinstance(got, Deleted)
    assert got.object.metadata.key == "team/bad"


def test_the_beginning_of_an_overlong_line_names_its_object() -> None:
    line = event("ADDED", pod("huge")).replace(b'"kind":"Pod","apiVersion":"v1",', b"")[:120]
    (got,) = DECODER.events(line)
    assert isinstance(got, Undecodable)
    assert got.key == "team/huge"


def test_one_undecodable_item_leaves_the_others_of_its_page() -> None:
    page = DECODER.page(pods(pod("a"), BAD, pod("b"), version=8, after="token"))
    assert [item.metadata.name for item in page.items] == ["a", "b"]
    assert [bad.key for bad in page.undecodable] == ["team/bad"]
    assert (page.resource_version, page.next) == ("8", "token")


def test_null_items_are_an_empty_list() -> None:
    body = b'{"kind":"PodList","metadata":{"resourceVersion":"3"},"items":null}'
    assert DECODER.page(body).items == ()


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"<html>", b"[]", b'{"kind":"PodList","metadata":{}}',
     b'{"kind":"Status","metadata":{},"items":[]}', b"[" * 100_000],
)  # fmt: skip
def test_what_is_no_list_is_never_an_empty_one(body: bytes) -> None:
    with pytest.raises(NotAListError):
        DECODER.page(body)


@given(st.binary(max_size=300) | st.text(max_size=100).map(lambda t: json.dumps(t).encode()))
def test_no_bytes_raise(line: bytes) -> None:
    assert len(DECODER.events(line)) == len([part for part in line.split(b"\n") if part.strip()])


def test_metadata_alone_reads_any_kind() -> None:
    (got,) = Decoder(Object).events(event("ADDED", {"metadata": {"name": "x"}, "spec": 1}))
    assert isinstance(got, Added)


def test_a_body_of_one_object() -> None:
    assert DECODER.object(json.dumps(pod("a")).encode()).metadata.name == "a"
