"""What the API shows of ForecastScalers."""

from nemutator_controller.scaling.documents import MOST_ITEMS, scaler_list
from nemutator_controller.scaling.records import ScalerState

from tests.fakes.scaling import WEB, foreseen

STATE = ScalerState(
    namespace="shop",
    name="web",
    target="web",
    mode="Apply",
    reason="forecast",
    why="so",
    workload=WEB,
    base=2,
    wanted=6,
    minimum=6,
    is_raised=True,
    forecast=foreseen(2.60000001),
)


def test_a_scaler_is_shown_with_what_it_foresees() -> None:
    [item], left_off = scaler_list([STATE], {}, {("shop", "web"): 9}, None)
    assert left_off == 0
    assert item == item | {
        "key": "shop/web",
        "workload": "Deployment/web",
        "upper_cores": 2.6,
        "skill": 0.8,
        "opportunistic": 9,
        "reason": "forecast",
    }


def test_faulty_ones_are_among_them_and_one_namespace_alone_is_shown() -> None:
    items, _ = scaler_list([STATE], {("shop", "bad"): "no", ("x", "y"): "no"}, {}, "shop")
    assert [(one["name"], one["reason"]) for one in items] == [
        ("bad", "faulty"),
        ("web", "forecast"),
    ]


def test_the_list_has_an_end() -> None:
    faulty = {("shop", f"s{number}"): "no" for number in range(MOST_ITEMS + 3)}
    items, left_off = scaler_list([], faulty, {}, None)
    assert (len(items), left_off) == (MOST_ITEMS, 3)
