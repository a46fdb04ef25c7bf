"""Functions of Python, which writes where it has put them: since 3.12, with `-X perf`."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_agent.profiler.symbols.wanted import TaskAddresses

from tests.fakes.process import fake_process

PYTHONS = os.environ.get("OTHER_PYTHON", "python3.14:python3.13:python3.12").split(":")
"""Commands or paths."""

PROGRAM = """\
import sys
def price():
    print("begun", flush=True)
    sys.stdin.read()
def serve():
    price()
serve()
"""

FUNCTIONS = ("price", "serve", "<module>")


def knows_perf(python: str) -> bool:
    asked = [python, "-X", "perf", "-c", "import sys; assert sys.is_stack_trampoline_active()"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


@contextmanager
def running(python: str, program: Path) -> Iterator[tuple[int, dict[int, str]]]:
    """Its number, and what it has told of the functions of *program*: an address in each, and its name."""
    program.write_text(PROGRAM)
    command = [python, "-X", "perf", str(program)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        names = Path(f"/tmp/perf-{process.pid}.map")
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n"
            told = [line.split(" ", 2) for line in names.read_text().splitlines()]
            yield (
                process.pid,
                {int(start, 16) + 1: name for start, _, name in told if str(program) in name},
            )
        finally:
            process.kill()
            names.unlink(missing_ok=True)


@pytest.mark.parametrize("python", PYTHONS)
async def test_functions_of_python_have_their_names(python: str, tmp_path: Path) -> None:
    found = shutil.which(python)
    if found is None or not knows_perf(found):
        pytest.skip(f"no {python} that knows -X perf: name one with OTHER_PYTHON")
    program = tmp_path / "shop.py"
    worker = symbol_worker()
    symboliser = WorkerSymboliser(ProcMaps(), worker, fake_process())
    try:
        with running(found, program) as (pid, told):
            wanted = TaskAddresses((pid, 0), dict.fromkeys(told, 1), set())
            frames, notes = await symboliser.named(wanted)
    finally:
        worker.stop()
    print(f"\n{python}: {sorted(told.values())}; {notes}")
    assert {*told.values()} == {f"py::{name}:{program}" for name in FUNCTIONS}
    assert {address: stack[0].function for address, stack in frames.items()} == told
