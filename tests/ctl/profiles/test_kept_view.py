from typing import Any

import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.profiles.kept_view import NOTHING, decode_kept, kept_view


def item(**changed: Any) -> dict[str, Any]:
    return {
        "id": "0123456789abcdef",
        "asked_at": 1_700_000_000.0,
        "measure": "cpu",
        "state": "done",
        "reason": "",
        "workload": "shop/cart",
        "title": "shop/cart-1",
        **changed,
    }


def test_a_kept_profile_has_what_it_is_asked_for_by() -> None:
    head, row = kept_view(decode_kept({"items": [item()]})).splitlines()
    assert head.split() == ["ID", "ASKED", "MEASURE", "STATE", "WORKLOAD", "TITLE"]
    assert row.split() == [
        *("0123456789abcdef", "2023-11-14", "22:13:20Z", "cpu", "done", "shop/cart", "shop/cart-1")
    ]


def test_why_there_is_none_is_said_and_names_cannot_draw() -> None:
    shown = kept_view(decode_kept({"items": [item(state="lost", reason="gone", title="\x1b[2J")]}))
    assert "lost: gone" in shown
    assert "\x1b" not in shown
    assert kept_view(decode_kept({"items": []})) == NOTHING


def test_an_id_that_would_lead_elsewhere_is_no_profile() -> None:
    with pytest.raises(OperatorError):
        decode_kept({"items": [item(id="../advice")]})
