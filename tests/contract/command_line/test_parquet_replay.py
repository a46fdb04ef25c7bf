"""Recorded use in Parquet, written and read by the real DuckDB: the same comes out as of CSV."""

import contextlib
import math
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.sizing.recordings import (
    Recording,
    UnreadableRecordingError,
    read_recording,
)
from nemutator_controller.sizing.strategies.known import Resource
from nemutator_ctl.replay.command import main
from nemutator_ctl.replay.sql import is_parquet, read_parquet

NOW = 2e9


def written(path: Path, select: str) -> Path:
    duckdb.sql(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path


def rows(*values: str, columns: str = "time, name, pod, cpu, memory") -> str:
    quoted = ", ".join(f'"{one}"' for one in columns.split(", "))
    return f"SELECT * FROM (VALUES {', '.join(values)}) AS t({quoted})"


def same(one: Recording, other: Recording) -> None:
    assert [use.name for use in one.uses] == [use.name for use in other.uses]
    for left, right in zip(one.uses, other.uses, strict=True):
        np.testing.assert_allclose(left.pods, right.pods, rtol=1e-12)
    assert one.dropped == other.dropped


POINTS = st.lists(
    st.tuples(
        st.integers(0, 40_000),
        st.sampled_from(["web", "db", "shop/é"]),
        st.sampled_from(["a", "b"]),
        st.one_of(st.floats(-5, 1e6), st.just(math.nan), st.just(math.inf)),
    ),
    min_size=1,
    max_size=40,
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(POINTS, st.sampled_from(["cpu", "memory"]))
def test_it_is_what_the_same_points_are_in_csv(
    tmp_path: Path, points: list[tuple[int, str, str, float]], resource: Resource
) -> None:
    lines = [f"{at},{name},{pod},{value!r}" for at, name, pod, value in points]
    text = "\n".join([f"time,name,pod,{resource}", *lines])
    values = [f"({at}, '{name}', '{pod}', '{value}'::DOUBLE)" for at, name, pod, value in points]
    path = written(tmp_path / "use.parquet", rows(*values, columns=f"time, name, pod, {resource}"))
    same(
        read_parquet(path, resource, step_s=300),
        read_recording(text.encode(), resource, step_s=300, now=NOW),
    )


@pytest.mark.parametrize(
    "moment",
    [
        "7200",
        "7200.0::DOUBLE",
        "TIMESTAMP '1970-01-01 02:00:00'",
        "TIMESTAMPTZ '1970-01-01 04:00:00+02:00'",
        "'1970-01-01T02:00:00Z'",
        "'7200'",
    ],
)
def test_moments_of_each_kind(tmp_path: Path, moment: str) -> None:
    path = written(tmp_path / "x", rows(f"({moment}, 'web', 'a', 1.0, 5)"))
    assert is_parquet(path)
    [use] = read_parquet(path, "cpu", step_s=300).uses
    assert use.pods.tolist() == [[1.0]]


def test_what_is_no_use_is_left_out_and_counted(tmp_path: Path) -> None:
    path = written(
        tmp_path / "x",
        rows(
            "('0', 'web', 'a', 1.0, 1)", "('x', 'web', 'a', 1.0, 1)", "('0', NULL, 'a', 1.0, 1)",
            "('0', 'web', 'a', -1.0, 1)", "('1e300', 'web', 'a', 1.0, 1)", "('0', 'web', 'a', NULL, 1)",
        ),
    )  # fmt: skip
    found = read_parquet(path, "cpu", step_s=300)
    assert found.uses[0].pods.tolist() == [[1.0]]
    assert found.dropped == {"unreadable": 3, "negative": 1}


def test_a_folder_is_all_that_is_in_it(tmp_path: Path) -> None:
    for day, folder in enumerate(("a", "b*[c]")):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder / "use.parquet", rows(f"({day * 300}, 'web', 'a', {day}.5, 1)"))
    written(tmp_path / "a" / "b*.parquet", rows("(600, 'web', 'a', 9.0, 1)"))
    [use] = read_parquet(tmp_path, "cpu", step_s=300).uses
    assert use.pods.tolist() == [[0.5, 1.5, 9.0]]
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableRecordingError, match="expected 1 to"):
        read_parquet(tmp_path / "empty", "cpu", step_s=300)


def test_a_column_that_is_missing_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "x", rows("(0, 'web', 1.0)", columns="time, name, cpu"))
    with pytest.raises(UnreadableRecordingError, match="no column pod"):
        read_parquet(path, "cpu", step_s=300)
    with pytest.raises(UnreadableRecordingError, match="no column pod, memory"):
        read_parquet(path, "memory", step_s=300)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_bytes_of_strangers_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    whole = written(tmp_path / "good", rows("(0, 'web', 'a', 1.0, 5)", "(3, 'db', 'b', 2.0, 7)"))
    content = bytearray(whole.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(4, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "bad"
    path.write_bytes(content[: data.draw(st.integers(4, len(content)))])
    with contextlib.suppress(UnreadableRecordingError):
        read_parquet(path, "cpu", step_s=300)


def test_the_command_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    select = (
        "SELECT to_timestamp(i * 300) AS time, 'shop/web' AS name, 'web-1' AS pod,"
        " CASE WHEN i // 12 % 24 > 11 THEN 2.0 ELSE 0.2 END AS cpu FROM range(864) t(i)"
    )
    path = written(tmp_path / "use.parquet", select)
    assert main([str(path), "--strategy", "krr"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith("cpu of 1 container, 3 days in all")
    (tmp_path / "broken").write_bytes(b"PAR1 and no more")
    with pytest.raises(OperatorError, match="broken"):
        main([str(tmp_path / "broken")])
