from typing import Any
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.sizing.replayed_series import ReplayedSeries
from nemutator_ctl.replay.chart import chart


def shown(*costs: float | None) -> dict[str, Any]:
    items = [
        {"own": {"strategy": f"s{number}", "cost": cost, "missed": 0.01, "changes": 1.0}}
        for number, cost in enumerate(costs)
    ]
    return {"resource": "cpu", "containers": 1, "days": 3.0, "items": items}


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]


def test_each_strategy_has_its_bars_its_line_and_its_figures() -> None:
    line = ReplayedSeries("shop/web", 48, (1.0, None, 2.0), {"s0": (3.0, 3.0, 3.0), "s1": (None,)})
    svg = chart(shown(1.5, None), [line])
    assert {"1.50", "-", "shop/web, 2.0 days", "3 cores", "used at most"} <= set(texts(svg))
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


@settings(max_examples=30)
@given(
    st.text(max_size=30).filter(lambda name: "nan" not in name),
    st.lists(st.none() | st.floats(0, 1e18), min_size=1, max_size=5),
)
def test_whatever_a_container_is_called_and_uses_is_one_sound_document(
    name: str, values: list[float | None]
) -> None:
    line = ReplayedSeries(name, 2, tuple(values), {"<s0>": tuple(values)})
    svg = chart(shown(*values), [line])
    assert "nan" not in svg
    assert "<s0>" not in svg
    ElementTree.fromstring(svg)


def test_a_name_cannot_add_to_the_document() -> None:
    line = ReplayedSeries("</text><script>", 2, (1.0,), {})
    assert "<script>" not in chart(shown(1.0), [line])
