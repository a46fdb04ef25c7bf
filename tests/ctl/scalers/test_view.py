"""ForecastScalers as people read them."""

from typing import Any

import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.scaling.documents import scaler_list
from nemutator_ctl.scalers.view import decode, overview

from tests.controller.scaling.test_documents import STATE


def answer(**more: Any) -> dict[str, Any]:
    items, left_off = scaler_list([STATE], {("shop", "bad"): "no"}, {}, None)
    return {"items": items, "left_off": left_off, **more}


def test_each_has_a_line_with_what_is_in_force_and_why() -> None:
    head, bad, web = overview(decode(answer())).splitlines()
    assert " ".join(head.split()) == (
        "SCALER TARGET MODE BASE WANTED MINIMUM SPARE FOR SKILL REASON WHY"
    )
    assert bad.split() == ["shop/bad", "faulty", "no"]
    assert web.split() == ["shop/web", "web", "Apply", "2", "6", "6", "80%", "forecast", "so"]


def test_a_wide_table_has_the_forecast() -> None:
    *_, web = overview(decode(answer()), wide=True).splitlines()
    assert "Deployment/web" in web
    assert web.split()[-7:] == ["80%", "0.50", "2.60", "2.60", "900s", "forecast", "so"]


def test_none_and_too_many_are_said() -> None:
    assert overview(decode({"items": []})).startswith("There is no ForecastScaler")
    assert overview(decode(answer(left_off=3))).endswith("3 more are left off\n")


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(OperatorError):
        decode({"items": [{"name": 1}]})
