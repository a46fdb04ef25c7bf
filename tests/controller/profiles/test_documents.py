from dataclasses import replace

from nemutator_controller.profiles.documents import list_document, profile_document

from tests.fakes.profiles import POD, profile


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
