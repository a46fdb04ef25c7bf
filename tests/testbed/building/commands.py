"""Programs that work for a while and end: none outlives the build that started it.

Of a build that is killed, what a program has started in its turn ends by itself, as a compiler
does that has one package to go.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

TAIL_LINES = 15
TAIL_WIDTH = 300
REPORT_EVERY_S = 30.0


class CommandError(Exception):
    """A program that failed: its name, its exit code and the last lines that it wrote."""


def run(
    command: Sequence[str | Path],
    *,
    log: Path,
    environment: Mapping[str, str],
    within: Sequence[str] = (),
    folder: Path | None = None,
    output: Path | None = None,
    report: Callable[[], None] | None = None,
    report_every_s: float = REPORT_EVERY_S,
) -> None:
    """Run it to its end, calling *report* now and then; what it writes goes to *log*.

    With *output*, what it writes to its standard output goes there instead. *within* is a command
    that starts it in other surroundings.
    """
    for program in [*within[:1], command[0]]:
        if shutil.which(program, path=environment.get("PATH")) is None:
            raise CommandError(f"this machine has no program {program}")
    # A build that is killed cannot stop its programs, so the kernel does.
    tied = ["setpriv", "--pdeathsig=KILL", "--", *within, *command]
    with log.open("ab") as said, (output or log).open("ab") as told:
        process = subprocess.Popen(
            tied,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=said,
            env=dict(environment),
            cwd=folder,
            # A group of its own, so that what it has started can be ended with it.
            start_new_session=True,
        )
        try:
            code = _wait(process, report, report_every_s)
        except BaseException:
            # Before it is waited for: so long its number cannot be another's.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    if code:
        raise CommandError(f"{' '.join(_said(command))} ended with {code}:\n{tail(log)}")


def read(
    command: Sequence[str | Path],
    *,
    log: Path,
    environment: Mapping[str, str],
    within: Sequence[str] = (),
    folder: Path | None = None,
    report: Callable[[], None] | None = None,
) -> str:
    """What it writes to its standard output; *log* gets the rest."""
    output = log.with_name(f"{log.name}.output")
    output.unlink(missing_ok=True)
    run(
        command,
        log=log,
        environment=environment,
        within=within,
        folder=folder,
        output=output,
        report=report,
    )
    return output.read_text()


def tail(log: Path) -> str:
    """The last lines of *log*, none longer than a person wants to read."""
    lines = log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
    return "\n".join(f"    {line[:TAIL_WIDTH]}" for line in lines)


def _wait(
    process: subprocess.Popen[bytes], report: Callable[[], None] | None, report_every_s: float
) -> int:
    while True:
        try:
            return process.wait(timeout=report_every_s)
        except subprocess.TimeoutExpired:
            if report is not None:
                report()


def _said(command: Iterable[str | Path]) -> list[str]:
    """The program and what it was asked to do, without the length of its arguments."""
    program, *arguments = map(str, command)
    return [Path(program).name, *arguments[:2]]
