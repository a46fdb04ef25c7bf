"""Commands as people type them, run in this process: one of its own would take a fifth of a second to
start. `tests/contract/command_line` starts real ones.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_ctl.__main__ import main

PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str


class CommandLine:
    """Asks the brain of *directory*; one command at a time, because all write to the same output."""

    def __init__(self, directory: Path, captured: pytest.CaptureFixture[str]) -> None:
        self._directory = directory
        self._captured = captured

    async def __call__(self, command: str, *words: str | Path) -> Ran:
        argv = [command, "--data-dir", str(self._directory), *map(str, words)]
        self._captured.readouterr()
        async with asyncio.timeout(PATIENCE_S):
            code = await asyncio.to_thread(_ended, argv)
        return Ran(code, *self._captured.readouterr())


def _ended(argv: list[str]) -> int:
    try:
        return main(argv)
    except SystemExit as ended:  # by argparse, with a number
        return int(str(ended.code))
