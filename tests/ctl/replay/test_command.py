import json
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.replay.command import main


@pytest.fixture
def recorded(tmp_path: Path) -> str:
    rows = ["time,name,pod,cpu,memory"]
    for step in range(12 * 24 * 3):
        busy = 2.0 if step // 12 % 24 > 11 else 0.2
        rows.append(f"{step * 300},shop/web,web-1,{busy},{200e6 + step}")
    file = tmp_path / "use.csv"
    file.write_text("\n".join(rows) + "\n0,shop/web,web-1,-4,1\n")
    return str(file)


def test_strategies_are_shown_side_by_side(
    recorded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([recorded, "--strategy", "nemutator,krr,seed"]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == (
        "cpu of 1 container, 3 days in all; missed: the share of use above the request"
    )
    assert [line.split()[0] for line in out.splitlines()[1:]] == [
        "STRATEGY",
        "nemutator",
        "krr",
        "seed",
    ]
    assert "points left out: 1 negative" in err


def test_jobs_of_minutes_are_not_counted_as_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["time,name,pod,cpu", *(f"{step * 300},web,p,1" for step in range(72))]
    rows += [f"{number * 300},job-{number},p,1" for number in range(30)]
    file = tmp_path / "use.csv"
    file.write_text("\n".join(rows))
    assert main([str(file), "--strategy", "krr"]) == ExitCode.OK
    assert capsys.readouterr().out.startswith(
        "cpu of 1 container (30 with less than two hours left out), 0.25 days in all;"
    )


def test_the_document_has_the_same(recorded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([recorded, "--resource", "memory", "--strategy", "krr", "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["comparedAt"] == 0.03
    (item,) = document["items"]
    assert item["own"]["strategy"] == "krr"
    assert item["own"]["cost"] == pytest.approx(1.15, rel=0.01)


def test_the_picture_is_beside_the_table(
    recorded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "it.svg"
    assert main([recorded, "--strategy", "krr,seed", "--picture", str(file)]) == ExitCode.OK
    assert "STRATEGY" in capsys.readouterr().out
    assert "shop/web, 3.0 days" in file.read_text()
    with pytest.raises(OperatorError, match="No such file"):
        main([recorded, "--strategy", "krr", "--picture", str(tmp_path / "none" / "it.svg")])


@pytest.mark.parametrize(
    "argv", [["--strategy", "best"], ["--step", "7"], ["--step", "0"], ["--resource", "disk"]]
)
def test_what_there_is_not_is_refused(argv: list[str], recorded: str) -> None:
    with pytest.raises(SystemExit) as end:
        main([recorded, *argv])
    assert end.value.code == ExitCode.USAGE


def test_a_file_without_two_hours_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "use.csv"
    file.write_text("time,name,pod,cpu\n0,web,a,1\n")
    with pytest.raises(OperatorError, match="not two hours of cpu of any container\n"):
        main([str(file)])
    file.write_text(
        "time,name,pod,cpu\n" + "".join(f"{at},web,a,-1\n" for at in range(0, 9_000, 300))
    )
    with pytest.raises(OperatorError, match="any container; points left out: 30 negative\n"):
        main([str(file)])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="No such file"):
        main([str(tmp_path / "none.csv")])
