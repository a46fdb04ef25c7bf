from typing import Any

import msgspec
import pytest
from nemutator_common.windows import WindowPause
from nemutator_controller.ageing.records import window_records

from tests.fakes.windows import heap_reading, symbols

NOW = 3_000.0


def read(record: dict[str, Any], *, writer: str = "n") -> list[object]:
    return list(window_records(writer, [record], now=NOW))


def reading(**changed: Any) -> dict[str, Any]:
    return dict(msgspec.to_builtins(heap_reading()) | changed)


def test_records_are_read_as_they_were_sent() -> None:
    pause = WindowPause(node="n", at=2_000.0, paused=True, reason="cpu", why="1.2 of 1.0 %")
    for record in (heap_reading(), symbols(), pause):
        assert read(msgspec.to_builtins(record)) == [record]


@pytest.mark.parametrize(
    "wrong",
    [
        {"node": "other"},
        {"at": -1},
        {"at": float("nan")},
        {"age_s": 1e300},
        {"counters": {"threads": -5}},
        {"counters": {"threads": "9"}},
        {"process": {}},
        {"missing": [{"what": "heap", "why": "x\n", "remedy": ""}]},
        {"missing": [{"what": "heap", "why": "w" * 1_001, "remedy": ""}]},
    ],
)
def test_what_is_wrong_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each says something else
        read(reading(**wrong))


@pytest.mark.parametrize("kind", [[], {}, 7, None, "tomorrow"])
def test_a_kind_that_is_not_known_is_left_out_whatever_its_type(kind: object) -> None:
    assert read(reading(record=kind)) == []


def test_more_than_is_allowed_is_refused() -> None:
    record = reading()
    record["heap"] = dict(record["heap"], sites=list(record["heap"]["sites"]) * 200)
    with pytest.raises(ValueError, match="sites"):
        read(record)
    many = msgspec.to_builtins(symbols())
    many["sites"] = list(many["sites"]) * 200
    with pytest.raises(ValueError, match="symbols"):
        read(many)
    deep = msgspec.to_builtins(symbols())
    deep["sites"][0]["frames"] = [["f", "g", 1]] * 65
    with pytest.raises(ValueError, match="frames"):
        read(deep)


def test_a_record_of_a_newer_agent_is_left_out() -> None:
    assert read({"record": "rumour", "node": "n"}) == []


def test_a_clock_that_is_far_ahead_is_set_right() -> None:
    (found,) = window_records("n", [msgspec.to_builtins(heap_reading(at=NOW + 1_000))], now=NOW)
    assert (getattr(found, "at", None), getattr(found, "age_s", None)) == (NOW, NOW)
