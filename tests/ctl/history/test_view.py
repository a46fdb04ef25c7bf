from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.errors import OperatorError
from nemutator_ctl.history.view import (
    NOTHING,
    HistoryRowShown,
    amount,
    decode,
    decode_rows,
    history_path,
    list_view,
    sparkline,
    view,
)


def document(**changed: Any) -> dict[str, Any]:
    measures = {"mean": [0.1, None, 0.3], "low": [0.1, None, 0.2], "high": [0.1, None, 0.4]}
    return {
        "namespace": "shop",
        "owner_kind": "Deployment",
        "owner": "cart",
        "container": "app",
        "from_at": 1_700_000_040,
        "step_s": 60,
        "pods": [2.0, None, 2.0],
        "figures": {"cpu_cores": {**measures, "most": [0.1, None, 0.2]}},
        "window": {"cpu_cores": {"mean": 0.2, "low": 0.1, "high": 0.4, "most": 0.2}},
        "week": None,
        **changed,
    }


def test_a_window_is_a_line_of_numbers_and_a_line_of_bars() -> None:
    head, _, title, row = view(decode(document())).splitlines()
    assert head == "shop/Deployment/cart app, 2023-11-14 22:14:00Z to 2023-11-14 22:17:00Z"
    assert title.split() == ["MEAN", "LOW", "HIGH", "ONE", "POD"]
    assert row.split() == ["CPU", "(cores)", "0.200", "0.100", "0.400", "0.200", "▃", "█"]


def test_what_an_older_part_is_worth_is_said() -> None:
    missing = view(decode(document(older={"missing": "it is away"})))
    assert "What is older than a day is not known: it is away" in missing
    warned = view(decode(document(older={"missing": "", "warnings": ["a store", "\x1b[2J"]})))
    assert "What is older than a day came with a warning: a store; \\x1b[2J" in warned


def test_a_usual_week_is_a_line_for_each_day() -> None:
    hours: list[float | None] = [None] * 168
    hours[0], hours[30] = 1.0, 2.0
    week = {
        "minutes": [60.0] * 168,
        "figures": {"cpu_cores": {"median": hours, "max": [3.0] * 168}},
    }
    lines = view(decode(document(week=week))).splitlines()
    assert lines[-7:-5] == [f"  Mon {'▄'.ljust(24)} 3.000", f"  Tue {'      █'.ljust(24)} 3.000"]


def test_without_anything_known_it_says_so() -> None:
    assert "Nothing is known" in view(decode(document(figures={}, window={})))
    assert list_view(decode_rows({"items": [], "left_off": 0})) == NOTHING


def test_a_list_says_what_was_left_off() -> None:
    row = {"namespace": "s", "owner_kind": "unit", "owner": "a", "container": "-", "heard_at": 1.0}
    shown = list_view(decode_rows({"items": [row], "left_off": 3}))
    assert shown.splitlines()[1:] == [
        "s           unit/a   -           1970-01-01 00:00:01Z",
        "and 3 more: name a namespace",
    ]


def test_names_are_quoted_in_a_path() -> None:
    row = HistoryRowShown("/", "program", "a b/c", "-", 1.0)
    assert history_path(row) == "/api/v1/workloads/%2F/program/a%20b%2Fc/history"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("cpu_cores", 0.25, "0.250"),
        ("memory_bytes", 100 << 20, "100.0 MiB"),
        ("memory_bytes", 3e15, "2728.5 TiB"),
        ("network_sent", 10, "10 B/s"),
        ("throttled", 0.125, "12.5%"),
        ("cpu_cores", None, "-"),
    ],
)
def test_amounts_have_the_unit_of_their_figure(name: str, value: float | None, shown: str) -> None:
    assert amount(name, value) == shown


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e15)), max_size=500))
def test_a_sparkline_fits_a_terminal_whatever_the_values(values: list[float | None]) -> None:
    assert len(sparkline(values)) <= 60


@pytest.mark.parametrize(
    "wrong", [None, [], {"items": 1}, document(pods=["x"]), document(step_s=1e300)]
)
def test_another_answer_is_one_message(wrong: object) -> None:
    with pytest.raises(OperatorError):
        decode(wrong)
