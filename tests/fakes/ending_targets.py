"""A process that ends at one step of what is done with it: which one, the test says."""

import subprocess
from collections.abc import Sequence

from nemutator_agent.profiler.heap.proc_mem import ProcMem
from nemutator_agent.profiler.heap.reading import HeldMemory
from nemutator_agent.profiler.symbols.mappings import Mapping, Mappings, OpenFile
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps


class EndingTarget:
    """Ends *process* before step number *step*, counted from 0."""

    def __init__(self, process: "subprocess.Popen[str]", *, step: int) -> None:
        self.process = process
        self._left = step

    @property
    def has_ended(self) -> bool:
        return self._left < 0

    def step(self) -> None:
        if self._left == 0:
            self.process.kill()
            self.process.wait()
        self._left -= 1


class EndingFiles:
    """The real files of processes; each call is a step of the target."""

    def __init__(self, files: ProcMaps, target: EndingTarget) -> None:
        self._files = files
        self._target = target

    async def mappings(self, pid: int) -> Mappings:
        self._target.step()
        return await self._files.mappings(pid)

    async def open(self, pid: int, mapping: Mapping) -> OpenFile:
        self._target.step()
        return await self._files.open(pid, mapping)

    async def open_perf_map(self, pid: int) -> OpenFile:
        self._target.step()
        return await self._files.open_perf_map(pid)

    async def open_first(self, pid: int, paths: Sequence[str]) -> OpenFile:
        self._target.step()
        return await self._files.open_first(pid, paths)

    async def open_kernel(self) -> OpenFile:
        return await self._files.open_kernel()

    def close(self, file: OpenFile) -> None:
        self._target.step()
        self._files.close(file)


class EndingMemories:
    """The real memory of processes, in the same way."""

    def __init__(self, memories: ProcMem, target: EndingTarget) -> None:
        self._memories = memories
        self._target = target

    async def open(self, pid: int) -> HeldMemory:
        self._target.step()
        return await self._memories.open(pid)

    def is_there(self, memory: HeldMemory) -> bool:
        self._target.step()
        return self._memories.is_there(memory)

    def close(self, memory: HeldMemory) -> None:
        self._memories.close(memory)
