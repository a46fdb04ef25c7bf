"""A process that maps 4 GB which look like Go at every turn: an answer in time, and little memory."""

import os
import struct
from pathlib import Path

import pytest
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.inspection.confined_worker import ConfinedWorker
from nemutator_agent.profiler.symbols.asking import ask
from nemutator_agent.profiler.symbols.messages import MOST_ADDRESSES, SymbolAnswer, SymbolQuestion
from nemutator_agent.profiler.symbols.pclntab import MOST_FUNCTIONS

from tests.fakes.elf_files import Forge

pytestmark = pytest.mark.slow

SIZE = 4 << 30
STEP = 1 << 20
HEAD = 64
SEGMENT = struct.Struct("<IIQQQQQQ")
DATA, CODE = 4, 5
MOST_MEMORY_KIB = 112 << 10
"""Of the agent with its worker in a session, by its budget."""


def head(place: int) -> bytes:
    """As a table of Go begins that has as many functions as one may have."""
    tables = (128, 160, 192, 224, 256)
    return struct.pack("<IHBB8Q", 0xFFFFFFF1, 0, 1, 8, MOST_FUNCTIONS, 9, place, *tables)


def garbage(path: Path) -> int:
    """An open file: an ELF without sections, whose segments of data and of code are all of it, with heads
    of tables in the first part."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    os.truncate(file, SIZE)
    os.pwrite(file, Forge(sections=False).build()[:HEAD], 0)
    for number, (flags, address) in enumerate(((DATA, 0), (CODE, 16 * SIZE))):
        segment = SEGMENT.pack(1, flags, 0, address, address, SIZE, SIZE, 16)
        os.pwrite(file, segment, HEAD + number * SEGMENT.size)
    for place in range(STEP, SIZE // 8, STEP):
        os.pwrite(file, head(place), place)
    return file


def most_memory_kib(worker: ConfinedWorker) -> int:
    """Of the worker, which is our only child."""
    (child,) = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    for line in Path(f"/proc/{child}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise AssertionError("the worker has ended")


async def asked(worker: ConfinedWorker, file: int, *places: int) -> SymbolAnswer:
    return await ask(worker, SymbolQuestion(False, places, places), file)


async def test_garbage_is_answered_and_costs_little(tmp_path: Path) -> None:
    worker = symbol_worker()
    file = garbage(tmp_path / "garbage")
    try:
        answer = await asked(worker, file, *range(STEP, SIZE, SIZE // MOST_ADDRESSES + 1))
        assert set(answer.places) == {None}
        assert set(answer.depths) == {-1}
        assert most_memory_kib(worker) < MOST_MEMORY_KIB
        print(worker.cpu_s, most_memory_kib(worker), answer.notes)
    finally:
        os.close(file)
        worker.stop()
