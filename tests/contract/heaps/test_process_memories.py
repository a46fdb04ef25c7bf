"""What holds of the memory of processes, fake or real."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_agent.app.workers import heap_worker
from nemutator_agent.inspection.failures import HiddenFileError, KernelThreadError, ProcessGoneError
from nemutator_agent.profiler.heap.messages import (
    MemoryQuestion,
    decode_memory,
    encode,
)
from nemutator_agent.profiler.heap.proc_mem import ProcMem
from nemutator_agent.profiler.heap.reading import ProcessMemories

from tests.fakes.heaps import MemoryMemories

EXEC = "import os; print(flush=True); os.read(0, 1); os.execv('/bin/cat', ['cat'])"


class Living:
    """A process that waits, and runs another program when it is told to."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", EXEC], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.pid = self.process.pid
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()

    def exec(self) -> None:
        """Returns once the other program answers."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(b"x8\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == b"8\n"


@pytest.fixture
def living() -> Iterator[Living]:
    process = Living()
    yield process
    process.end()


@pytest.fixture(params=["fake", "real"])
def memories(request: pytest.FixtureRequest, living: Living) -> ProcessMemories:
    return ProcMem() if request.param == "real" else MemoryMemories({living.pid: {}})


def end(memories: ProcessMemories, living: Living) -> None:
    living.end()
    if isinstance(memories, MemoryMemories):
        memories.ended.add(living.pid)


async def test_a_process_is_there_until_it_ends(memories: ProcessMemories, living: Living) -> None:
    memory = await memories.open(living.pid)
    assert memory.pid == living.pid
    assert memories.is_there(memory)
    end(memories, living)
    assert not memories.is_there(memory)
    memories.close(memory)


async def test_a_process_that_has_ended_is_gone(memories: ProcessMemories, living: Living) -> None:
    end(memories, living)
    with pytest.raises(ProcessGoneError):
        await memories.open(living.pid)
    with pytest.raises(ProcessGoneError):
        await memories.open(2**22 + 1)


async def test_a_thread_of_the_kernel_is_told_from_what_has_ended(
    living: Living, tmp_path: Path
) -> None:
    process = tmp_path / "proc" / str(living.pid)
    process.mkdir(parents=True)
    for flags, raised in {2129984: KernelThreadError, 4194304: ProcessGoneError}.items():
        (process / "stat").write_text(f"2 (a b) S 0 0 0 0 -1 {flags} " + "0 " * 40)
        with pytest.raises(ProcessGoneError) as failure:
            await ProcMem(root=tmp_path).open(living.pid)
        assert failure.type is raised


async def test_after_an_exec_there_is_nothing_more_to_read(living: Living) -> None:
    memories = ProcMem()
    memory = await memories.open(living.pid)
    assert os.pread(memory.file, 8, memory.image // 4096 * 4096)
    living.exec()
    assert os.pread(memory.file, 8, memory.image // 4096 * 4096) == b""
    assert not memories.is_there(memory)
    memories.close(memory)


async def test_nothing_stays_open(living: Living) -> None:
    memories = ProcMem()
    before = len(os.listdir("/proc/self/fd"))
    memories.close(await memories.open(living.pid))
    with contextlib.suppress(ProcessGoneError, HiddenFileError):
        await memories.open(2**22 + 1)
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_worker_without_rights_reads_what_its_parent_has_opened(living: Living) -> None:
    memories, worker = ProcMem(), heap_worker()
    memory = await memories.open(living.pid)
    try:
        # The first words of the stack, of which the kernel says where they are.
        mapped = memory.image // 4096 * 4096
        found = await worker.ask(encode(asking(mapped)), memory.file, decode_memory)
        assert found.flaw != "unreadable"
        missing = await worker.ask(encode(asking(8)), memory.file, decode_memory)
        assert missing.flaw == "unreadable"
    finally:
        worker.stop()
        memories.close(memory)


def asking(address: int) -> MemoryQuestion:
    return MemoryQuestion(
        text=(1, 2),
        cycle_words=4,
        flag_bits=1,
        buckets=(address,),
        rates=(address,),
        cycles=(),
    )
