"""A list that is shown again and again (`--watch`): each time as the command itself shows it."""

import contextlib
import io
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol

from nemutator_common.errors import OperatorError

CLEAR = "\x1b[H\x1b[2J"
EVERY_S = 2.0


class Onlooker(Protocol):
    """Where a person looks, or a program reads."""

    is_screen: bool

    def write(self, text: str) -> None: ...
    def complain(self, text: str) -> None: ...
    def wait(self, seconds: float) -> bool:
        """Whether to look again."""
        ...


def split(argv: Sequence[str], flags: Collection[str]) -> tuple[bool, list[str]]:
    """Whether one of *flags* is in *argv*, and the rest."""
    end = argv.index("--") if "--" in argv else len(argv)
    rest = [word for place, word in enumerate(argv) if place >= end or word not in flags]
    return len(rest) < len(argv), rest


def watch(command: Callable[[Sequence[str]], int], argv: Sequence[str], terminal: Onlooker) -> int:
    """Run *command* until *terminal* has had enough, and return its last exit code.

    The first time has to succeed. What fails later is said once, and the next answer counts.
    """
    shown: list[str] = []
    code, last_problem = 0, ""
    is_first = True
    while True:
        written = io.StringIO()
        try:
            with contextlib.redirect_stdout(written):
                code = command(argv)
            problem = ""
        except OperatorError as error:
            if is_first:
                raise
            problem = str(error)
        if problem and problem != last_problem:
            terminal.complain(f"nemutator: {problem}\n")
        elif not problem:
            lines = written.getvalue().splitlines(keepends=True)
            if terminal.is_screen:
                terminal.write(CLEAR + "".join(lines))
            else:
                terminal.write("".join(_news(lines, shown)))
            shown = lines
        last_problem, is_first = problem, False
        if code or not terminal.wait(EVERY_S):
            return code


def _news(lines: Sequence[str], before: Sequence[str]) -> Iterator[str]:
    """A program reads on: what stood there already is not said again."""
    known = set(before)
    return (line for line in lines if line not in known)
