"""Keeps what a process maps, and the files open, while a profile is made: it may end before names are
looked up. One that ended before anybody looked at it is found in another that runs the same executable.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from nemutator_agent.inspection.failures import (
    FileSystemStuckError,
    HiddenFileError,
    ProcessGoneError,
)
from nemutator_agent.profiler.raw import SeenProgram, Task
from nemutator_agent.profiler.symbols.mappings import Mapping, Mappings, OpenFile
from nemutator_agent.profiler.symbols.ports import MappedFiles

MOST_PROGRAMS = 4096
MOST_MAPPINGS = 100_000
"""Of all programs together, about 20 MiB."""
MOST_FILES = 128

_Executable = tuple[int, int]
_File = tuple[str, int, str]


@dataclass(eq=False, slots=True)
class KeptPrograms:
    """Of one profile; `forget` closes the files."""

    files: MappedFiles
    _programs: dict[Task, SeenProgram] = field(default_factory=dict, init=False)
    _mappings: dict[Task, Mappings] = field(default_factory=dict, init=False)
    _examples: dict[_Executable, Task] = field(default_factory=dict, init=False)
    """By executable: one whose mappings are kept."""
    _open: dict[_File, OpenFile] = field(default_factory=dict, init=False)
    _count: int = field(default=0, init=False)
    """Mappings."""

    async def keep(self, program: SeenProgram) -> Mappings | None:
        """What it maps; None where it has ended by now, or may not be looked at."""
        if len(self._programs) >= MOST_PROGRAMS:
            return None
        task = program.task
        self._programs[task] = program
        try:
            mappings = await self.files.mappings(task[0])
            if not mappings.are_of(task[1]):
                return None
            for mapping in mappings:
                await self._keep_file(task[0], mapping)
        except (ProcessGoneError, HiddenFileError, FileSystemStuckError):
            return None
        if self._count + len(mappings) <= MOST_MAPPINGS:
            self._count += len(mappings)
            self._mappings[task] = mappings
            if program.inode:
                self._examples.setdefault((program.inode, program.device), task)
        return mappings

    def mappings(self, task: Task) -> Mappings | None:
        """What a process that has ended had mapped, as far as it is known and its files are kept."""
        found = self._mappings.get(task)
        if found is None:
            found = self._as_in_another(task)
        return None if found is None else Mappings(one for one in found if self.file(one))

    def file(self, mapping: Mapping) -> OpenFile | None:
        """The file that is mapped; it stays open until `forget`."""
        return self._open.get(_file(mapping))

    def forget(self) -> None:
        for file in self._open.values():
            self.files.close(file)
        for kept in (self._programs, self._mappings, self._examples, self._open):
            kept.clear()
        self._count = 0

    async def _keep_file(self, pid: int, mapping: Mapping) -> None:
        key = _file(mapping)
        if mapping.inode and key not in self._open and len(self._open) < MOST_FILES:
            file = await self.files.open(pid, mapping)
            if key in self._open:
                self.files.close(file)
            else:
                self._open[key] = file

    def _as_in_another(self, task: Task) -> Mappings | None:
        program = self._programs.get(task)
        if program is None or not program.inode:
            return None
        example = self._examples.get((program.inode, program.device))
        if example is None:
            return None
        shift = program.code - self._programs[example].code
        return Mappings(_moved(self._mappings[example], self._programs[example].code, shift))


def _moved(mappings: Mappings, code: int, shift: int) -> Iterator[Mapping]:
    """Those of the executable, whose code begins at *code*, moved by *shift*."""
    executable = mappings.at(code)
    for one in mappings:
        if executable is not None and _file(one) == _file(executable):
            yield replace(one, start=one.start + shift, end=one.end + shift)


def _file(mapping: Mapping) -> _File:
    return mapping.device, mapping.inode, mapping.path
