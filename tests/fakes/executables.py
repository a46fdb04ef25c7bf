"""Programs of processes, and a worker, without processes."""

from collections.abc import Callable
from typing import TypeVar

from nemutator_agent.inspection.detected_runtime import UNKNOWN, DetectedRuntime, encode
from nemutator_agent.inspection.executables import Program
from nemutator_agent.inspection.failures import ProcessGoneError
from nemutator_agent.inspection.identities import FileId, ProcessId

T = TypeVar("T")


class ScriptedPrograms:
    """Each process has the program, or the failure, that a test gave it; others are gone."""

    def __init__(self) -> None:
        self.of: dict[ProcessId, Program | Exception] = {}
        self.opened: list[ProcessId] = []
        self.open_files = 0
        self.words: dict[ProcessId, tuple[bytes, ...]] = {}

    async def open(self, process: ProcessId) -> Program:
        self.opened.append(process)
        program = self.of.get(process, ProcessGoneError())
        if isinstance(program, Exception):
            raise program
        self.open_files += 1
        return program

    async def command_line(self, process: ProcessId) -> tuple[bytes, ...]:
        return self.words.get(process, ())

    def close(self, program: Program) -> None:
        self.open_files -= 1


class ScriptedWorker:
    """Answers by file number; an exception is raised."""

    def __init__(self) -> None:
        self.answers: dict[int, DetectedRuntime | Exception] = {}
        self.asked: list[int] = []

    async def ask(self, question: bytes, file: int, decode: Callable[[bytes], T]) -> T:
        self.asked.append(file)
        answer = self.answers.get(file, UNKNOWN)
        if isinstance(answer, Exception):
            raise answer
        return decode(encode(answer))

    def stop(self) -> None:
        """It is no process."""


def program(name: str, file: int) -> Program:
    """A file is known by its number here."""
    return Program(name, file, FileId(1, file, 1, 1))
