from pathlib import PurePath
from typing import Any

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.profiles.requests import decode, rendering, seconds, target


def document(**changed: Any) -> dict[str, Any]:
    return {
        "id": "0123456789abcdef",
        "title": "pid 7 on n1",
        "state": "done",
        "reason": "",
        "remedy": "",
        "seconds": 30.0,
        "hz": 99,
        "recorded": 90,
        "lost": {"stack_map_full": 2},
        "cpu_seconds": 0.9,
        "notes": ["a note"],
        "link": "http://127.0.0.1:8420/x",
        **changed,
    }


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("pid:123", "pid", "123"),
        ("cgroup:/system.slice/a:b", "cgroup", "/system.slice/a:b"),
        ("shop/cart-1", "pod", "shop/cart-1"),
        ("pod:shop/cart-1", "pod", "shop/cart-1"),
        ("unit:ssh", "unit", "ssh"),
        ("shop", "name", "shop"),
        ("name:pid:7", "name", "pid:7"),
        ("python3:x", "name", "python3:x"),
        ("11111111-2222-3333-4444-555555555555", "pod", "11111111-2222-3333-4444-555555555555"),
    ],
)
def test_a_target_says_its_kind(text: str, kind: str, value: str) -> None:
    assert target(text, None) == {"kind": kind, "value": value}
    assert target(text, "n1") == {"kind": kind, "value": value, "node": "n1"}


@pytest.mark.parametrize("text", ["", "pid:", "cgroup:"])
def test_nothing_is_no_target(text: str) -> None:
    with pytest.raises(OperatorError) as wrong:
        target(text, None)
    assert wrong.value.code == ExitCode.USAGE


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "", "ten", "\x1b[2J"])
def test_what_is_no_time_is_told_before_anybody_is_asked(text: str) -> None:
    with pytest.raises(OperatorError) as wrong:
        seconds(text)
    assert wrong.value.code == ExitCode.USAGE
    assert "expected a number of seconds" in wrong.value.what
    assert wrong.value.what.isprintable()


def test_a_time_is_a_number() -> None:
    assert (seconds("10"), seconds("0.5")) == (10.0, 0.5)


@pytest.mark.parametrize(
    ("file", "what"), [("x.pb.gz", "pprof"), ("a.b.folded", "folded"), ("x.html", "flamegraph")]
)
def test_the_end_of_a_name_says_what_is_saved(file: str, what: str) -> None:
    assert rendering(PurePath(file)) == what


@pytest.mark.parametrize("file", ["x", "x.gz", "x.svg"])
def test_another_end_is_refused_before_anything_is_profiled(file: str) -> None:
    with pytest.raises(OperatorError) as wrong:
        rendering(PurePath(file))
    assert wrong.value.code == ExitCode.USAGE


def test_a_profile_is_read() -> None:
    profile = decode(document())
    assert (profile.recorded, profile.lost, profile.notes) == (
        90,
        {"stack_map_full": 2},
        ("a note",),
    )
    assert not profile.is_open
    assert decode(document(state="asked")).is_open


@pytest.mark.parametrize(
    "wrong",
    [{"id": "../x"}, {"id": 7}, {"lost": 7}, {"seconds": "x"}, {"recorded": None}, {"notes": 7}],
)
def test_what_is_no_profile_is_said_to_be_none(wrong: dict[str, Any]) -> None:
    broken: tuple[object, ...] = (document(**wrong), None, [])
    for given in broken:
        with pytest.raises(OperatorError):
            decode(given)
