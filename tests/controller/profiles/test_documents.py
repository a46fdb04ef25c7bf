from dataclasses import replace

import pytest
from nemutator_common.profiles import pprof
from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Profile, Weighed
from nemutator_controller.profiles.documents import decoded, list_document, profile_document

from tests.fakes.profiles import NOW, POD, content, heap_content, off_cpu_content, profile


def test_a_profile_is_shown_with_its_link_once_it_is_done() -> None:
    shown = profile_document(profile(), link="http://x", now=NOW)
    assert (shown["kind"], shown["state"], shown["link"]) == ("Profile", "asked", None)
    made = replace(profile(), state="done", pod=POD)
    done = profile_document(made, link="http://x", now=NOW)
    assert (done["link"], done["title"]) == ("http://x", "shop/cart-1")
    assert done["target"] == {"kind": "pid", "value": "123"}


def test_a_running_profile_says_for_how_long_it_is_sampled_yet() -> None:
    running = replace(profile(), state="running", phase="sampling", phase_at=NOW)
    left = [profile_document(running, link="", now=NOW + late)["left_s"] for late in (-5, 12, 99)]
    assert left == [30, 18, 0]
    symbolising = replace(running, phase="symbolising")
    assert profile_document(symbolising, link="", now=NOW)["left_s"] is None


def test_a_list_keeps_its_order() -> None:
    shown = list_document([profile(2), profile(1)], ["a", "b"], now=NOW)
    items = shown["items"]
    assert isinstance(items, list)
    assert [item["id"][-1] for item in items] == ["2", "1"]
    assert shown["kind"] == "ProfileList"


def test_a_profile_is_read_as_what_it_was_asked_for() -> None:
    assert isinstance(decoded(heap_content(), "heap"), HeapProfile)
    assert isinstance(decoded(content(), "cpu"), Profile)
    assert isinstance(decoded(off_cpu_content(), "off-cpu"), Weighed)
    with pytest.raises(pprof.MalformedProfileError):
        decoded(content(), "heap")
    with pytest.raises(pprof.MalformedProfileError):
        decoded(heap_content(), "cpu")
