from dataclasses import dataclass, field

import msgspec
import pytest
from nemutator_agent.inspection.failures import HiddenFileError, WorkerFailedError
from nemutator_agent.profiler.heap.messages import ProgramAnswer
from nemutator_agent.profiler.heap.reading import MOST_PROCESSES, HeapReader
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.symbols.mappings import Mapping
from nemutator_common import names
from nemutator_common.profiles import pprof
from nemutator_common.profiles.heap import Allocated

from tests.fakes.heaps import (
    NEW,
    PLACES,
    PROGRAM,
    TEXT,
    Bucket,
    HexNames,
    LocalHeapWorker,
    MemoryMemories,
    counted,
    heap,
)
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.symbols import FakeFiles

CODE = Mapping(TEXT.start, TEXT.stop, 0, 100, "/bin/shop")


@dataclass
class Node:
    files: FakeFiles = field(default_factory=FakeFiles)
    memories: MemoryMemories = field(default_factory=MemoryMemories)
    meter: MemoryMeter = field(default_factory=MemoryMeter)

    def __post_init__(self) -> None:
        self.worker = LocalHeapWorker(self.memories)
        process = fake_process(meter=self.meter)
        self.reader = HeapReader(self.files, self.memories, self.worker, HexNames(), process)

    def run(
        self,
        pid: int,
        *buckets: Bucket,
        program: ProgramAnswer = PROGRAM,
        counted: dict[int, bytes] | None = None,
    ) -> None:
        """A process whose executable is the file 100 + *pid*."""
        self.files.contents[100 + pid] = b""
        code = Mapping(CODE.start, CODE.end, 0, 100 + pid, "/bin/shop")
        self.files.processes[pid] = [code]
        self.memories.processes[pid] = {**heap(buckets), **(counted or {})}
        if counted:
            program = msgspec.structs.replace(program, counts=PLACES)
        self.worker.programs[100 + pid] = program

    async def refusal(self, *pids: int) -> ProfileRefused:
        with pytest.raises(ProfileRefused) as refused:
            await self.reader.read(pids)
        assert (self.memories.opened, self.files.open_files) == (0, 0)
        assert self.worker.stops
        return refused.value


async def test_a_heap_is_read_and_named() -> None:
    node = Node()
    node.run(7, Bucket(), Bucket(size=128, stack=(0x400031,), active=(2, 0)))
    found = await node.reader.read([7])
    profile = pprof.decode_heap(found.pprof)
    shown = {
        tuple(profile.frames[one].function for one in stack): allocated
        for stack, allocated in profile.sites
    }
    assert shown == {
        ("0x400010", "0x400020"): Allocated(3, 192, 2, 128),
        ("0x400030",): Allocated(2, 256, 2, 256),
    }
    assert found.sites == 2
    assert found.notes == profile.notes
    assert found.notes == ("shop (pid 7): as of garbage collection 9, one byte of 1 recorded",)
    assert (node.memories.opened, node.files.open_files, node.worker.stops) == (0, 0, 1)
    assert node.meter.value(names.SYMBOL_QUESTIONS, result="answered") == 2


async def test_the_layout_is_that_of_the_programs_version() -> None:
    node = Node()
    node.run(7, program=msgspec.structs.replace(PROGRAM, version="go1.27.3"))
    node.memories.processes[7] = heap([Bucket()], layout=NEW)
    profile = pprof.decode_heap((await node.reader.read([7])).pprof)
    assert profile.total == Allocated(3, 192, 2, 128)


async def test_a_position_independent_program_is_read_where_it_was_loaded() -> None:
    node = Node()
    moved = 0x555500000000
    node.run(7, Bucket(stack=(moved + 0x400011,)))
    node.files.processes[7] = [Mapping(moved + 0x400000, moved + 0x500000, 0, 107, "/bin/shop")]
    pieces = heap([Bucket(stack=(moved + 0x400011,))])
    node.memories.processes[7] = {
        at + moved if at < 0x1000000 else at: content for at, content in pieces.items()
    }
    found = await node.reader.read([7])
    assert found.sites == 1


async def test_processes_of_one_program_are_added() -> None:
    node = Node()
    for pid in (7, 8):
        node.run(pid, Bucket())
    node.run(9, program=ProgramAnswer(flaw="not_go"))
    found = await node.reader.read([7, 9, 8])
    assert pprof.decode_heap(found.pprof).total == Allocated(6, 384, 4, 256)
    assert found.notes[-1] == "left out: shop (pid 9) is no Go program"


async def test_more_processes_than_are_read_are_counted() -> None:
    node = Node()
    pids = range(1, MOST_PROCESSES + 3)
    for pid in pids:
        node.run(pid, Bucket())
    found = await node.reader.read(pids)
    assert "2 processes were not looked at" in found.notes


async def test_what_is_no_go_program_is_refused_by_name() -> None:
    node = Node()
    node.run(7, program=ProgramAnswer(flaw="not_go"))
    refusal = await node.refusal(7)
    assert (refusal.reason, refusal.what) == ("heap", "shop (pid 7) is no Go program")


async def test_an_unknown_version_is_refused_by_name() -> None:
    node = Node()
    node.run(7, program=msgspec.structs.replace(PROGRAM, version="go1.17.2"))
    assert "Go 1.17 is older than 1.18" in (await node.refusal(7)).what


async def test_several_without_a_heap_are_refused_together() -> None:
    node = Node()
    for pid in (7, 8):
        node.run(pid, program=ProgramAnswer(flaw="not_go"))
    assert "none of 2 processes" in (await node.refusal(7, 8)).what


async def test_a_forged_chain_is_refused_by_name() -> None:
    node = Node()
    node.run(7, Bucket(size=1 << 60))
    assert "none that Go makes: expected an object of a size" in (await node.refusal(7)).what


async def test_forged_sums_are_refused_by_name() -> None:
    node = Node()
    node.run(7, *[Bucket(size=1, active=((1 << 60) - 1, 0)) for _ in range(8)])
    assert "expected sums that memory can have" in (await node.refusal(7)).what


async def test_a_process_that_ends_at_any_step_is_gone() -> None:
    for step in range(1, 4):
        node = Node()
        node.run(7, Bucket())
        left = step

        async def end(node: Node = node) -> None:
            nonlocal left
            left -= 1
            if not left:
                node.memories.ended.add(7)

        if step == 3:
            node.memories.ended.add(7)
        node.worker.answering = end
        assert (await node.refusal(7)).reason == "gone"


async def test_a_process_that_runs_another_program_is_gone() -> None:
    node = Node()
    node.run(7, Bucket())
    node.files.processes[7] = []
    assert (await node.refusal(7)).reason == "gone"


async def test_a_memory_that_may_not_be_read_says_what_lacks() -> None:
    node = Node()
    node.memories.processes[7] = HiddenFileError()
    refusal = await node.refusal(7)
    assert refusal.reason == "rights"
    assert "CAP_SYS_PTRACE" in refusal.remedy


async def test_a_worker_that_fails_is_counted() -> None:
    node = Node()
    node.run(7, Bucket())
    node.worker.failing = WorkerFailedError("died")
    assert "failed (died)" in (await node.refusal(7)).what
    assert node.meter.value(names.SYMBOL_QUESTIONS, result="died") == 1


async def test_some_sites_are_named_and_the_others_are_summed() -> None:
    node = Node()
    node.run(7, Bucket(), Bucket(size=128, stack=(0x400031,), active=(2, 0)), Bucket(size=32))
    found = await node.reader.read_some(7, lambda stacks: list(stacks)[:1], is_meant=lambda: True)
    ((stack, frames, allocated),) = found.named
    assert stack == (0x400011, 0x400021)
    assert [one.function for one in frames] == ["0x400010", "0x400020"]
    # Objects of two sizes, at one stack.
    assert allocated == Allocated(6, 288, 4, 192)
    assert (found.rest, found.rest_sites) == (Allocated(2, 256, 2, 256), 1)
    assert (found.program, found.version, found.rate, found.collections) == (
        "shop",
        "go1.26.8",
        1,
        9,
    )
    assert (node.memories.opened, node.files.open_files, node.worker.stops) == (0, 0, 1)


async def test_where_a_program_keeps_its_heap_is_asked_once() -> None:
    node = Node()
    node.run(7, Bucket())
    for _ in range(3):
        await node.reader.read_some(7, list, is_meant=lambda: True)
    # Of the program once, of the memory each time.
    assert node.meter.value(names.SYMBOL_QUESTIONS, result="answered") == 4


async def test_another_process_of_that_number_is_not_read() -> None:
    node = Node()
    node.run(7, Bucket())
    with pytest.raises(ProfileRefused) as refused:
        await node.reader.read_some(7, list, is_meant=lambda: False)
    assert refused.value.reason == "gone"
    assert node.meter.value(names.SYMBOL_QUESTIONS, result="answered") == 0
    assert (node.memories.opened, node.files.open_files) == (0, 0)


async def test_sums_that_travel_as_no_exact_number_are_forged() -> None:
    node = Node()
    node.run(7, Bucket(size=1, active=(1 << 53, 0)))
    with pytest.raises(ProfileRefused, match="sums that memory can have"):
        await node.reader.read_some(7, list, is_meant=lambda: True)


async def test_what_the_runtime_counts_comes_with_the_heap() -> None:
    node = Node()
    node.run(7, Bucket())
    found = await node.reader.read_some(7, list, is_meant=lambda: True)
    assert found.counts.flaw == "unknown"
    node = Node()
    node.run(7, Bucket(), counted=counted())
    found = await node.reader.read_some(7, list, is_meant=lambda: True)
    assert (found.counts.goroutines, found.counts.collections) == (22, 34)
    told = await node.reader.read([7])
    assert (
        "22 goroutines, 34 garbage collections, which have stopped it for 5.0 ms" in told.notes[1]
    )


async def test_a_program_is_known_without_its_heap() -> None:
    node = Node()
    node.run(7, Bucket(), counted=counted())
    found = await node.reader.program_of(7, is_meant=lambda: True)
    assert (found.name, found.version, found.counts) == ("shop", "go1.26.8", None)
    found = await node.reader.program_of(7, is_meant=lambda: True, counted=True)
    assert found.counts is not None
    assert found.counts.goroutines == 22
    with pytest.raises(ProfileRefused, match="not running"):
        await node.reader.program_of(7, is_meant=lambda: False)
    assert (node.memories.opened, node.files.open_files) == (0, 0)
