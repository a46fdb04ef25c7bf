"""What processes map: the port to /proc, as symbols need it."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_agent.profiler.symbols.mappings import Mapping, Mappings, OpenFile


class MappedFiles(Protocol):
    """All raise ProcessGoneError, HiddenFileError or FileSystemStuckError; the caller closes the files."""

    async def mappings(self, pid: int) -> Mappings: ...

    async def open(self, pid: int, mapping: Mapping) -> OpenFile: ...

    async def open_perf_map(self, pid: int) -> OpenFile:
        """The names that a process has written for code it has compiled itself."""
        ...

    async def open_first(self, pid: int, paths: Sequence[str]) -> OpenFile:
        """The first of *paths* that is there, within the root of the process."""
        ...

    async def open_kernel(self) -> OpenFile: ...

    def close(self, file: OpenFile) -> None: ...
