from typing import Any

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.advise.view import decode, view


def item(**changed: Any) -> dict[str, Any]:
    return {
        "namespace": "shop",
        "owner_kind": "Deployment",
        "owner": "cart",
        "container": "app",
        "points": 40,
        "span_s": 600.0,
        "state": "provisional",
        "reason": "40 of 100 points, over 10 min",
        "requests_now": {"cpu": "500m", "memory": None},
        "requests": {"cpu": "200m", "memory": "230M"},
        **changed,
    }


def shown(*items: object) -> str:
    return view(decode({"items": list(items)}))


def test_what_is_requested_now_stands_before_what_is_advised() -> None:
    title, row = shown(item()).splitlines()
    assert title.split() == [
        "NAMESPACE", "OWNER", "CONTAINER", "SPAN", "CPU", "REQUEST", "MEMORY", "WASTE", "RISK", "SURE",
    ]  # fmt: skip
    assert "500m → 200m" in row
    assert "230M   300m    -        0%   provisional: 40 of 100 points" in row


def test_what_another_strategy_says_is_not_called_unsure() -> None:
    requests = {"cpu": "200m", "memory": "262144000"}
    row = shown(item(state="firm", reason="", requests=requests)).splitlines()[1]
    assert "250Mi" in row
    assert row.split()[-1] == "-"
    assert "0%" not in row


def test_of_what_others_have_recorded_no_agent_is_missing() -> None:
    for namespace in (None, "shop"):
        said = view((), namespace=namespace, recorded=True)
        assert "recorded there" in said
        assert "agent" not in said
    assert "no agent" in view(())


def test_the_greatest_waste_comes_first_of_cpu_and_memory_together() -> None:
    small = item(owner="small", requests_now={"cpu": "250m", "memory": None})
    large = item(owner="large", requests_now={"cpu": "200m", "memory": str(8 << 30)})
    none = item(owner="none", requests_now={"cpu": None, "memory": None})
    rows = shown(small, none, large).splitlines()[1:]
    assert [row.split()[1] for row in rows] == [
        "Deployment/large",
        "Deployment/small",
        "Deployment/none",
    ]
    assert "7973Mi" in rows[0]


def test_what_is_at_risk_is_said_with_its_evidence() -> None:
    bounds = {"cpu": "600m", "memory": "200M"}
    asked = {"cpu": "500m", "memory": "100000000"}
    use = {
        "kills": 2,
        "throttled": 0.25,
        "cpu_waiting": 0.3,
        "memory_waiting": 0.05,
        "cpu_p50": 0.1,
    }
    sure = {"cpu": 0.5, "memory": 0.25}
    row = shown(item(lower=bounds, requests_now=asked, use=use, confidence=sure)).splitlines()[1]
    assert "killed 2x, throttled 25%, waits for CPU 30%, little CPU, little memory" in row
    assert " 25% " in row


def test_more_columns_have_the_points_and_the_bounds() -> None:
    one = item(lower={"cpu": "7m", "memory": "8M"}, upper={"cpu": "9m", "memory": None})
    title, row = view(decode({"items": [one]}), wide=True).splitlines()
    assert "POINTS" in title
    assert row.split("provisional")[0].split()[-6:] == ["1", "40", "7m", "9m", "8M", "-"]


def test_without_a_value_the_reason_is_shown() -> None:
    nothing = {"cpu": None, "memory": None}
    reason = "3 of 8 points, ask again in 75 s"
    row = shown(item(state="not_yet", requests=nothing, reason=reason)).splitlines()[1]
    assert row.endswith(f"-   {reason}")


def test_with_nothing_seen_it_says_what_to_expect() -> None:
    assert "quarter of a minute" in shown()
    assert view((), namespace="shop").startswith(
        "No agent has reported what a container of shop used."
    )


def test_names_that_would_move_the_cursor_are_escaped() -> None:
    assert "\x1b" not in shown(item(owner="\x1b[2J"))


@pytest.mark.parametrize(
    "document",
    [None, 7, {}, {"items": {}}, {"items": [7]}, {"items": [item(points="x")]},
     {"items": [item(requests=None)]}, {"items": [item(span_s=True)]}],
)  # fmt: skip
def test_what_is_no_advice_is_said_to_be_none(document: object) -> None:
    with pytest.raises(OperatorError) as failed:
        decode(document)
    assert failed.value.code == ExitCode.UNREACHABLE


def test_what_runtimes_make_of_it_stands_below_and_there_is_an_end_to_it() -> None:
    lines = shown(item(remarks=["set -Xmx to 384MiB"])).splitlines()
    assert lines[-2:] == ["", "shop Deployment/cart app: set -Xmx to 384MiB"]
    many = shown(*(item(remarks=["a", "b"]) for _ in range(20))).splitlines()
    assert many[-1] == "… and 30 more: `nemutator explain`"
