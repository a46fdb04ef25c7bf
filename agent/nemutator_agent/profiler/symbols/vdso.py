"""The functions that the kernel maps into each process, such as `__vdso_clock_gettime`: an ELF image.

It is read from our own memory: a process may write over its copy, and all copies are the same.
"""

import os
import re
from pathlib import Path

from nemutator_agent.profiler.symbols.mappings import Mapping

NAME = "[vdso]"
_LOWEST = 1 << 32
"""Programs of 32 bits have another one, below this address."""


def own_vdso() -> tuple[int, int] | None:
    """An open file of our own, and its size; None where the kernel gives us none."""
    found = re.search(r"^([0-9a-f]+)-([0-9a-f]+) .*\[vdso\]$", _maps(), re.MULTILINE)
    if found is None:
        return None
    start, end = int(found[1], 16), int(found[2], 16)
    with Path("/proc/self/mem").open("rb", buffering=0) as memory:
        memory.seek(start)
        content = memory.read(end - start)
    file = os.memfd_create("vdso", os.MFD_CLOEXEC)
    os.write(file, content)
    return file, len(content)


def _maps() -> str:
    return Path("/proc/self/maps").read_text(errors="replace")


def is_same(mapping: Mapping, size: int) -> bool:
    """Whether a process has mapped what we have."""
    return mapping.start >= _LOWEST and mapping.end - mapping.start == size
