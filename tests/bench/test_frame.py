import json
from pathlib import Path

import pytest

from tests.bench.frame import Result, aim, known, line, main, this_machine


@pytest.mark.parametrize(
    ("value", "op", "met"),
    [
        (1.9, "<=", True),
        (2.1, "<=", False),
        (2.0, ">=", True),
        (2.0, "<", False),
        (2.0, ">", False),
    ],
)
def test_an_aim_knows_whether_it_is_met(value: float, op: str, met: bool) -> None:
    assert aim("seconds", value, op, 2.0).met is met


def test_an_aim_that_was_not_measured_says_why() -> None:
    assert aim("seconds", None, "<=", 2.0, reason="no peer on this machine").met is None
    with pytest.raises(ValueError, match="say why"):
        aim("seconds", None, "<=", 2.0)


def test_the_closing_line_is_one_json_object() -> None:
    result = Result(measured={"start_ms": 70}, aims=(aim("start", 70, "<=", 150),))
    text = line("cli-start", result, this_machine())
    assert "\n" not in text
    told = json.loads(text)
    assert list(told) == ["bench", "machine", "measured", "peers", "aims"]
    assert told["aims"] == [{"what": "start", "value": 70, "op": "<=", "aim": 150, "met": True}]


def test_benches_are_found_by_what_they_define(tmp_path: Path) -> None:
    (tmp_path / "cli_start.py").write_text("def bench() -> Result: ...\n")
    (tmp_path / "frame.py").write_text("def main() -> int: ...\n")
    assert known(tmp_path) == {"cli-start": "cli_start"}


def test_an_unknown_name_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-bench"]) == 2
    assert "one of: " in capsys.readouterr().err
