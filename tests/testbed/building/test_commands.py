import os
from pathlib import Path

import pytest

from tests.processes import alive
from tests.testbed.building import commands
from tests.testbed.building.commands import CommandError
from tests.testbed.running.waiting import until

ENVIRONMENT = {"PATH": os.environ["PATH"]}


def test_a_program_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as raised:
        commands.run(
            ["sh", "-c", "seq 1 99; echo no space left >&2; exit 3"],
            log=tmp_path / "log",
            environment=ENVIRONMENT,
        )
    told = str(raised.value).splitlines()
    assert told[0].startswith("sh -c ")
    assert told[0].endswith("ended with 3:")
    assert told[-1] == "    no space left"
    assert len(told) == 1 + commands.TAIL_LINES


def test_what_it_answers_is_kept_apart_from_what_it_complains_of(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for word in ("first", "second"):
        command = ["sh", "-c", f"echo {word}; echo complaint >&2"]
        assert commands.read(command, log=log, environment=ENVIRONMENT) == f"{word}\n"
    assert log.read_text() == "complaint\ncomplaint\n"


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no program debootstrapp"):
        commands.run(["debootstrapp"], log=tmp_path / "log", environment=ENVIRONMENT)


def test_an_interrupted_build_leaves_no_process(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers"
    # One process that waits, and one that it has started, both in the same group.
    script = f"tail -f /dev/null & echo $$ $! > {numbers}.new; mv {numbers}.new {numbers}; wait"

    def interrupt() -> None:
        if numbers.exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        commands.run(
            ["sh", "-c", script],
            log=tmp_path / "log",
            environment=ENVIRONMENT,
            report=interrupt,
            report_every_s=0.02,
        )
    started = [int(number) for number in numbers.read_text().split()]
    until(lambda: not alive(started), f"the end of {started}", within_s=60)
