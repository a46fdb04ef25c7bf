from dataclasses import replace

import pytest
from nemutator_common.profiles import pprof
from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Profile
from nemutator_controller.profiles.documents import decoded, list_document, profile_document

from tests.fakes.profiles import POD, content, heap_content, profile


def test_a_profile_is_shown_with_its_link_once_it_is_done() -> None:
    shown = profile_document(profile(), link="http://x")
    assert (shown["kind"], shown["state"], shown["link"]) == ("Profile", "asked", None)
    done = profile_document(replace(profile(), state="done", pod=POD), link="http://x")
    assert (done["link"], done["title"]) == ("http://x", "shop/cart-1")
    assert done["target"] == {"kind": "pid", "value": "123"}


def test_a_list_keeps_its_order() -> None:
    shown = list_document([profile(2), profile(1)], ["a", "b"])
    items = shown["items"]
    assert isinstance(items, list)
    assert [item["id"][-1] for item in items] == ["2", "1"]
    assert shown["kind"] == "ProfileList"


def test_a_profile_is_read_as_what_it_was_asked_for() -> None:
    assert isinstance(decoded(heap_content(), "heap"), HeapProfile)
    assert isinstance(decoded(content(), "cpu"), Profile)
    with pytest.raises(pprof.MalformedProfileError):
        decoded(content(), "heap")
    with pytest.raises(pprof.MalformedProfileError):
        decoded(heap_content(), "cpu")
