"""`nemutator` as a process, where nothing runs: what it prints, where, and with which exit code."""

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from nemutator_common import __version__
from nemutator_common.errors import ExitCode
from nemutator_ctl.__main__ import COMMANDS, WATCHED
from nemutator_ctl.parsers import Parser, ParserFoundError, seeking


def nemutator(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nemutator_ctl", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={name: value for name, value in os.environ.items() if "NEMUTATOR" not in name}
        | environment,
    )


def test_the_version_comes_as_text_json_and_yaml() -> None:
    assert nemutator("version").stdout == f"nemutator {__version__}\n"
    assert nemutator("--version").stdout == f"nemutator {__version__}\n"
    document = json.loads(nemutator("version", "-o", "json").stdout)
    assert document["version"] == __version__
    assert yaml.safe_load(nemutator("version", "-o", "yaml").stdout) == document


def test_the_help_lists_every_exit_code() -> None:
    ran = nemutator("--help")
    assert ran.returncode == ExitCode.OK
    for code in ExitCode:
        assert f"  {code.value:<4}{code.meaning}" in ran.stdout
    assert nemutator().stdout == ran.stdout


def test_the_help_lists_every_command_with_what_it_does() -> None:
    listed = dict(re.findall(r"^  ([a-z]+) +([a-z].*)$", nemutator().stdout, re.MULTILINE))
    assert listed == {name: summary for name, (_, summary) in COMMANDS.items()}


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_each_command_explains_its_options(command: str) -> None:
    ran = nemutator(command, "--help")
    assert ran.returncode == ExitCode.OK
    assert ran.stdout.startswith(f"usage: nemutator {command}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("toplogy",), "did you mean 'topology'?"),
        (("get", "nodes"), "what is to be seen is the command itself"),
        (("version", "extra"), "unrecognized arguments: extra"),
        (("version", "-o", "xml"), "choose from 'table', 'json', 'yaml'"),
        (("topology", "-o", "xml"), "choose from 'table', 'json', 'yaml'"),
        (("link", "--fly"), "unrecognized arguments: --fly"),
        (("profile", "pid:"), "names nothing to profile"),
        (("profile", "pid:1", "-o", "x.svg"), "end it in .pb.gz, .folded, .html"),
        (("profile", "pid:1", "-o", "/proc/none/x.html"), "there is no directory /proc/none"),
        (("profile", "pid:1", "--seconds", "nan"), "expected a number of seconds"),
        (("top", "--every", "nan"), "'nan': expected a number of seconds"),
        (("top", "--every", "inf"), "'inf': expected a number of seconds"),
        (("top", "--every=-1"), "'-1': expected a number of seconds"),
        (("up", "--fly"), "unrecognized arguments: --fly"),
    ],
)
def test_a_wrong_word_is_named(words: tuple[str, ...], said: str) -> None:
    ran = nemutator(*words)
    assert ran.returncode == ExitCode.USAGE
    # Python 3.14 leaves the quotes out of its list of choices.
    assert said.replace("'", "") in ran.stderr.replace("'", "")
    assert ran.stdout == ""


def test_a_file_that_cannot_be_written_is_named_before_anything_is_profiled(tmp_path: Path) -> None:
    folder = tmp_path / "x.html"
    folder.mkdir()
    ran = nemutator("profile", "pid:1", "-o", folder)
    assert (ran.returncode, "is a directory" in ran.stderr) == (ExitCode.USAGE, True)


@pytest.mark.parametrize("command", ["topology", "link", "mutations", "grants"])
def test_where_nothing_runs_the_remedy_is_named(command: str, tmp_path: Path) -> None:
    ran = nemutator(command, "--data-dir", tmp_path)
    assert ran.returncode == ExitCode.UNREACHABLE
    assert str(tmp_path) in ran.stderr
    assert "nemutator up" in ran.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("version >&-", ExitCode.OK),
        ("--help >&- <&-", ExitCode.OK),
        ("version 2>&-", ExitCode.OK),
        ("toplogy 2>&-", ExitCode.USAGE),
        ("nodes --data-dir /proc/none >&- 2>&-", ExitCode.UNREACHABLE),
    ],
)
def test_output_that_somebody_has_closed_is_no_defect(words: str, code: ExitCode) -> None:
    ran = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m nemutator_ctl {words}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, "Traceback" in ran.stderr) == (code, False)


def test_output_that_has_no_room_is_no_defect() -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "nemutator_ctl", "version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert ran.returncode == ExitCode.NO_SPACE
    assert "Traceback" not in ran.stderr
    assert "remedy" in ran.stderr


def test_printed_settings_are_read_back(tmp_path: Path) -> None:
    printed = nemutator("up", "--print-settings", NEMUTATOR_UP_PRIVILEGES="never").stdout
    file = tmp_path / "settings.toml"
    file.write_text(printed)
    again = nemutator("up", "--config", file, "--print-settings")
    assert again.returncode == ExitCode.OK, again.stderr
    assert 'privileges = "never"  # file' in again.stdout
    assert "# console =  # default" in again.stdout


def parser_of(command: str) -> Parser:
    with seeking(), pytest.raises(ParserFoundError) as found:
        import_module(COMMANDS[command][0]).main([])
    return found.value.parser


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_each_command_has_the_habits_of_kubectl(command: str) -> None:
    options = {word: each for each in parser_of(command).understood() for word in each.words}
    assert {"-h", "--help"} <= set(options)
    # A short option means the same everywhere.
    for short, long in {
        "-n": "--namespace",
        "-A": "--all-namespaces",
        "-o": "--output",
        "-w": "--watch",
    }.items():
        assert (short in options) == (long in options), short
    assert ("-w" in options) == (command in WATCHED)
    if "-n" in options and command not in ("delete", "apply"):
        assert "-A" in options
    # Where a profile is written, it is a file, as compilers have it.
    if "-o" in options and not options["-o"].is_file:
        assert {"table", "json", "yaml"} <= set(options["-o"].choices)
        assert ("name" in options["-o"].choices) == ("--context" in options)
    if "--context" in options:
        assert "--kubeconfig" in options
        # Those that ask no brain need only the API server.
        of_brain = {"--as-account", "--brain", "--data-dir"} <= set(options)
        assert of_brain == (command not in ("install", "uninstall"))
    for each in options.values():
        assert each.meaning, each.words


def test_nothing_is_coloured_where_nobody_looks(tmp_path: Path) -> None:
    for words in ((), ("version",), ("topology", "--data-dir", str(tmp_path)), ("nodez",)):
        ran = nemutator(*words)
        assert "\x1b" not in ran.stdout + ran.stderr
