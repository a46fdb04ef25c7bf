"""How a process of ours starts and ends, seen from outside: output, signals, exit codes."""

import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nemutator_common import __version__
from nemutator_common.errors import ExitCode
from nemutator_common.old_objects import YOUNG

SAMPLE = Path(__file__).with_name("sample_role.py")
PATIENCE_S = 60.0
COMMAND = [sys.executable, str(SAMPLE)]


def environment(**more: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if "NEMUTATOR" not in name}
    source = Path(__file__).parents[3] / "common"
    return {**clean, "PYTHONPATH": str(source), **more}


def ended(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The sample once it has said that it is ready."""
    with subprocess.Popen(
        [*COMMAND, "observe", *arguments],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_in_good_order(number: signal.Signals) -> None:
    with running() as process:
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == ExitCode.OK
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_a_closed_lifeline_stops_it() -> None:
    with running("--lifeline") as process:
        assert process.stdin is not None
        process.stdin.write("what is written does not matter\n")
        process.stdin.flush()
        process.stdin.close()
        assert process.wait(PATIENCE_S) == ExitCode.OK


@pytest.mark.slow
@pytest.mark.parametrize("end", ["operator", "group"])
def test_an_operator_error_is_its_message_and_its_code(end: str) -> None:
    result = ended("observe", "--end", end, "--log-format", "text")
    assert result.returncode == ExitCode.ADDRESS_IN_USE
    assert result.stderr == "sample observe: port 1 is taken\n  remedy: free it\n"


@pytest.mark.slow
def test_a_defect_is_a_traceback_in_the_log_and_its_own_code() -> None:
    result = ended("observe", "--end", "defect", "--log-format", "json")
    assert result.returncode == ExitCode.INTERNAL
    assert '"event": "defect"' in result.stderr
    assert "ZeroDivisionError" in result.stderr


@pytest.mark.slow
def test_settings_come_from_flags_environment_and_file(tmp_path: Path) -> None:
    config = tmp_path / "nemutator.toml"
    config.write_text('log_level = "debug"\n[observe]\nend = "defect"\n')
    result = ended(
        "observe", "--config", str(config), "--print-settings", NEMUTATOR_OBSERVE_END="return"
    )
    assert (result.returncode, result.stderr) == (0, "")
    document = tomllib.loads(result.stdout)
    assert (document["log_level"], document["observe"]["end"]) == ("debug", "return")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file or directory"),
        (b"= 1", "Invalid"),
        (b"\xff", "utf-8"),
        (b"#" * (2 << 20), "larger than"),
    ],
    ids=["missing", "no TOML", "no UTF-8", "too large"],
)
def test_a_settings_file_that_cannot_be_read_is_explained(
    tmp_path: Path, content: bytes | None, why: str
) -> None:
    config = tmp_path / "x.toml"
    if content is not None:
        config.write_bytes(content)
    result = ended("observe", "--config", str(config))
    assert result.returncode == ExitCode.SETTINGS
    assert why in result.stderr
    assert "remedy: name a readable TOML file" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_every_bad_setting_is_named_in_one_go() -> None:
    result = ended("observe", "--end", "never", NEMUTATOR_LOG_LEVEL="loud", NEMUTATOR_X="1")
    assert result.returncode == ExitCode.SETTINGS
    assert all(word in result.stderr for word in ("--end='never'", "loud", "NEMUTATOR_X"))


@pytest.mark.slow
def test_the_version_and_a_wrong_command_line() -> None:
    assert ended("--version").stdout.strip() == __version__
    assert ended("nonsense").returncode == ExitCode.USAGE
    assert ended("observe", "--nonsense").returncode == ExitCode.USAGE


CODE_IS_NO_GARBAGE = """
import asyncio, gc, sys, types
from nemutator_common.launching import from_module
from nemutator_common.old_objects import OldObjects

async def run(settings, stop):
    print(gc.get_freeze_count() > 1_000, gc.get_threshold()[0])
    gc.set_threshold(1_000_000)
    before = gc.get_stats()[1]["collections"]
    async with asyncio.timeout(60):
        while gc.get_stats()[1]["collections"] < before + 2:
            await asyncio.sleep(0)
    print("again and again")

sys.modules["sample"] = types.SimpleNamespace(run=run)
asyncio.run(from_module("sample", old_objects=OldObjects())(None, None))
"""


def test_the_collector_leaves_code_alone_and_sets_survivors_aside() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE_IS_NO_GARBAGE],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert done.stdout.split() == ["True", str(YOUNG), "again", "and", "again"], done.stderr


def test_threads_that_compute_have_short_turns() -> None:
    text = """
import asyncio, sys, types
from nemutator_common.launching import SWITCH_S, from_module

async def run(settings, stop):
    assert abs(sys.getswitchinterval() - SWITCH_S) < 1e-6, sys.getswitchinterval()
    assert SWITCH_S < 0.005

sys.modules["sample"] = types.SimpleNamespace(run=run)
asyncio.run(from_module("sample")(None, None))
"""
    done = subprocess.run(
        [sys.executable, "-c", text],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
