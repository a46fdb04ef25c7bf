"""How long threads wait for a CPU, timed in the kernel for as long as the agent runs.

Maps and layouts are those of bpf/nemutator_bpf/run_queue.bpf.c.
"""

import contextlib
import os
import struct
from collections.abc import Collection
from typing import NamedTuple

import nemutator_bpf

from nemutator_agent.profiler import bpf_maps
from nemutator_agent.profiler.kernel_programs import (
    FIRST,
    facts,
    in_thread,
    kernel_library,
    refused,
)
from nemutator_agent.profiler.libbpf import LibbpfError, LoadedObject
from nemutator_agent.profiler.requirements import missing
from nemutator_agent.profiler.targets import CONTROLLERS

PROGRAM = "run_queue"
TRACEPOINT = "sched_switch"

MOST_GROUPS = 1024
MOST_THREADS = 16_384
"""Together they take 1.7 MiB of the kernel's memory."""

SLOTS = 47

_WISH = struct.Struct("=II")
_GROUP = struct.Struct("=Q")
_DELAYS = struct.Struct(f"={1 + SLOTS}Q")
_OF_VERSION_1 = 1 << 63


class GroupNumber(NamedTuple):
    """A control group, as the kernel numbers them: by the inode of its directory."""

    inode: int
    is_unified: bool
    """Each hierarchy has its own numbers."""

    @property
    def key(self) -> bytes:
        return _GROUP.pack(self.inode | (0 if self.is_unified else _OF_VERSION_1))


class RunQueueTiming:
    """A program that is attached, until `close`."""

    def __init__(self, loaded: LoadedObject) -> None:
        self._loaded = loaded

    def add(self, group: GroupNumber) -> bool:
        """Time the threads of *group* from now on; False when there are too many groups."""
        try:
            self._loaded.put("groups", group.key, bytes(_DELAYS.size))
        except LibbpfError:
            return False
        return True

    def remove(self, groups: Collection[GroupNumber]) -> None:
        """Of groups that were added."""
        # One by one: a batch would end at the first that is not there.
        for one in groups:
            with contextlib.suppress(LibbpfError):
                self._loaded.delete("groups", [one.key])

    def read(self, group: GroupNumber) -> tuple[int, tuple[int, ...]] | None:
        """Nanoseconds that were waited in all, and turns by slot; None when it was not added."""
        try:
            content = self._loaded.get("groups", group.key, size=_DELAYS.size)
        except LibbpfError:
            return None
        waited_ns, *turns = _DELAYS.unpack(content)
        return waited_ns, tuple(turns)

    def untold(self) -> int:
        """Turns of threads that there was no room for."""
        return bpf_maps.sum_counts(
            self._loaded.get_per_cpu("untold", FIRST, size=bpf_maps.COUNT.size)
        )

    @property
    def program_fd(self) -> int:
        """The program's descriptor, whose /proc/self/fdinfo has the kernel's statistics of it."""
        return self._loaded.program_fd(PROGRAM)

    def close(self) -> None:
        self._loaded.close()


async def time_run_queues(
    *, unified: bool, controller: str, most_threads: int = MOST_THREADS
) -> RunQueueTiming:
    """Load the program and attach it. Raises ProfileRefused.

    *unified*: whether groups of version 2 are looked up; *controller*: whose hierarchy of version 1 is, empty for none.
    """

    def start() -> RunQueueTiming:
        if refusal := missing(facts("libbpf")):
            raise refusal
        wish = _WISH.pack(unified, CONTROLLERS.index(controller) + 1 if controller else 0)
        entries = {"groups": MOST_GROUPS, "threads": most_threads}
        content = nemutator_bpf.program(PROGRAM, os.uname().machine)
        try:
            loaded = kernel_library().load(content, constants=wish, entries=entries)
            try:
                loaded.attach_to_tracepoint(PROGRAM, TRACEPOINT)
            except LibbpfError:
                loaded.close()
                raise
        except LibbpfError as error:
            raise refused(error) from error
        return RunQueueTiming(loaded)

    return await in_thread(start, orphaned=RunQueueTiming.close)
