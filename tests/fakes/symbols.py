"""Files of processes, and a symbol worker, without processes; programs are real tables."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from nemutator_agent.inspection.failures import ProcessGoneError, WorkerFailedError
from nemutator_agent.inspection.identities import FileId
from nemutator_agent.profiler.symbols import lookup
from nemutator_agent.profiler.symbols.mappings import Mapping, Mappings, OpenFile
from nemutator_agent.profiler.symbols.messages import (
    SymbolQuestion,
    decode_question,
    encode_answer,
)

T = TypeVar("T")


class FakeFiles:
    """Contents by inode; what is not here is gone. A file is known by its inode."""

    def __init__(self) -> None:
        self.contents: dict[int, bytes] = {}
        self.processes: dict[int, list[Mapping] | Exception] = {}
        self.refused: dict[int, Exception] = {}
        self.images: dict[int, int] = {}
        self.open_files = 0
        self.kernel: bytes | Exception = b""
        self.perf_maps: dict[int, bytes] = {}
        """By process."""
        self.paths: dict[str, int] = {}
        """Inodes of files that processes may name."""
        self.looked_for: list[tuple[str, ...]] = []

    async def mappings(self, pid: int) -> Mappings:
        found = self.processes.get(pid, ProcessGoneError())
        if isinstance(found, Exception):
            raise found
        return Mappings(found, image=self.images.get(pid, 0))

    async def open(self, pid: int, mapping: Mapping) -> OpenFile:
        if mapping.inode in self.refused:
            raise self.refused[mapping.inode]
        if mapping.inode not in self.contents:
            raise ProcessGoneError
        self.open_files += 1
        return OpenFile(mapping.inode, FileId(1, mapping.inode, 1, 1))

    async def open_perf_map(self, pid: int) -> OpenFile:
        if pid not in self.perf_maps:
            raise ProcessGoneError
        self.open_files += 1
        return OpenFile(pid, FileId(2, pid, len(self.perf_maps[pid]), 1))

    async def open_first(self, pid: int, paths: Sequence[str]) -> OpenFile:
        self.looked_for.append(tuple(paths))
        for path in paths:
            if path in self.paths:
                self.open_files += 1
                return OpenFile(self.paths[path], FileId(1, self.paths[path], 1, 1))
        raise ProcessGoneError

    async def open_kernel(self) -> OpenFile:
        if isinstance(self.kernel, Exception):
            raise self.kernel
        self.open_files += 1
        return OpenFile(0, FileId(1, 0, 1, 1))

    def close(self, file: OpenFile) -> None:
        self.open_files -= 1


class LocalWorker:
    """Answers as the worker does, here; files in *failing* make it fail."""

    def __init__(self, files: FakeFiles) -> None:
        self._files = files
        self.failing: dict[int, WorkerFailedError] = {}
        self.asked: list[tuple[int, SymbolQuestion]] = []
        self.stops = 0
        self.cpu_s = 0.0
        self.costs_s = 0.0
        """CPU time of one answer."""
        self.answering: Callable[[], Awaitable[None]] | None = None
        """Awaited before each answer."""

    async def ask(self, question: bytes, file: int, decode: Callable[[bytes], T]) -> T:
        found = decode_question(question)
        self.asked.append((file, found))
        self.cpu_s += self.costs_s
        if self.answering is not None:
            await self.answering()
        if file in self.failing:
            raise self.failing[file]
        content = self._content(found, file)
        assert isinstance(content, bytes)

        def read_at(offset: int, size: int) -> bytes:
            return content[offset : offset + size]

        if found.perf_map:
            answer = lookup.compiled(read_at, found)
        elif found.kernel:
            answer = lookup.kernel(read_at, found)
        else:
            answer = lookup.Executable(read_at).answer(found)
        return decode(encode_answer(answer))

    def _content(self, question: SymbolQuestion, file: int) -> bytes | Exception:
        if question.perf_map:
            return self._files.perf_maps[file]
        return self._files.kernel if question.kernel else self._files.contents[file]

    def stop(self) -> None:
        self.stops += 1
