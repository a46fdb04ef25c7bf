"""Finds the runtime in the bytes of an executable; runs in the worker, on any file."""

from nemutator_agent.inspection.bounded_file import BoundedFile, ReadAt, TooMuchError
from nemutator_agent.inspection.detected_runtime import UNKNOWN, DetectedRuntime, is_version
from nemutator_agent.inspection.elf import Elf, NotElfError
from nemutator_agent.inspection.go_buildinfo import LARGEST_SEARCH, go_version
from nemutator_agent.inspection.runtimes import by_libraries

BUDGET_BYTES = LARGEST_SEARCH + (8 << 20)
BUDGET_READS = 2_000
"""A usual file takes less than a hundred reads; a search of the largest segments takes 65 more."""


def examine(read_at: ReadAt) -> DetectedRuntime:
    """The runtime that is evident in the file; never fails on what the file holds."""
    file = BoundedFile(read_at, budget_bytes=BUDGET_BYTES, budget_reads=BUDGET_READS)
    try:
        elf = Elf(file)
        version = go_version(elf, file)
        if version is not None:
            return DetectedRuntime("go", version if is_version(version) else None)
        return by_libraries(elf.needed())
    except (NotElfError, TooMuchError):
        return UNKNOWN
