"""A program of ours in the kernel, with its maps: loaded for one session, so that an idle agent holds none.

Calls of the kernel block, so they run in threads.
"""

import asyncio
import contextlib
import errno
import functools
import os
import resource
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import nemutator_bpf

from nemutator_agent.profiler import bcc, bpf_maps
from nemutator_agent.profiler.bcc import CompiledProgram
from nemutator_agent.profiler.bpf_maps import Counters
from nemutator_agent.profiler.libbpf import Libbpf, LibbpfError, LoadedObject
from nemutator_agent.profiler.raw import SeenProgram
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.requirements import (
    RIGHTS_REMEDY,
    Engine,
    EngineChoice,
    SamplerFacts,
    engine,
    missing,
    parse_capabilities,
)
from nemutator_agent.profiler.row_sums import RowSums
from nemutator_agent.profiler.targets import CONTROLLERS, TargetSelection

T = TypeVar("T")

_CALL_S = 60.0
"""Loading takes some 20 ms and draining a full map 100 ms, but longer on a node that is out of CPU."""

LOADED_S = bcc.COMPILED_S + _CALL_S
"""For loading, by whichever engine."""

FIRST = b"\0\0\0\0"
"""The key of a map that has one entry."""

BATCH = 512
_SELECTIONS = {"process": 1, "group": 2, "v1_group": 3}


Loaded = LoadedObject | CompiledProgram
"""A program and its maps, by whichever engine."""

SHARED_MAPS = ("stacks", "rows", "turns", "programs", "texts", "counters", "scratch")
"""Of bpf/nemutator_bpf/maps.h."""


@dataclass(frozen=True, slots=True)
class KernelSource:
    """One of our programs, as each engine needs to know it."""

    name: str
    kind: bcc.Kind
    maps: tuple[str, ...] = ()
    """Those that it does not share with the others."""


def facts(choice: EngineChoice = "auto", root: Path = Path("/")) -> SamplerFacts:
    release = os.uname().release
    return SamplerFacts(
        release=release,
        bcc=bcc.is_installed(root),
        headers=bcc.has_headers(release, root),
        choice=choice,
        processor=os.uname().machine,
        btf=(root / "sys/kernel/btf/vmlinux").exists(),
        capabilities=parse_capabilities((root / "proc/self/status").read_bytes()),
        locked_bytes=resource.getrlimit(resource.RLIMIT_MEMLOCK)[0],
        pid_namespace=(root / "proc/self/ns/pid").stat().st_ino,
    )


def sampling_engine(choice: EngineChoice) -> Engine:
    return engine(facts(choice))


def load(
    source: KernelSource,
    selection: TargetSelection,
    *,
    entries: Mapping[str, int],
    choice: EngineChoice = "auto",
) -> Loaded:
    """Load the program of *source* for the tasks of *selection*. Raises ProfileRefused."""
    found = facts(choice)
    if refusal := missing(found):
        raise refusal
    library, wish = kernel_library(), _wish(selection)
    try:
        if engine(found) == "bcc":
            maps = (*SHARED_MAPS, *source.maps)
            return bcc.load(
                library, source.name, source.kind, maps=maps, wish=wish, entries=entries
            )
        content = nemutator_bpf.program(source.name, os.uname().machine)
        return library.load(content, constants=wish, entries=entries)
    except LibbpfError as error:
        raise refused(error) from error


@functools.cache
def kernel_library() -> Libbpf:
    return Libbpf()


class KernelProgram:
    """What the agent does alike with each of its programs. A subclass attaches it, and says how its
    samples are taken out."""

    def __init__(self, loaded: Loaded, *, program: str) -> None:
        self._loaded = loaded
        self._program = program
        self._sums = RowSums()
        # A caller that is cancelled discards it while its thread still drains.
        self._lock = threading.Lock()
        self._closed = False

    def begin(self, texts: Mapping[int, tuple[int, int]], attach: Callable[[], None]) -> None:
        """Raises ProfileRefused; then it is closed."""
        try:
            for tgid, text in texts.items():
                self.put_text(tgid, text)
            attach()
        except LibbpfError as error:
            self.close()
            raise refused(error) from error
        except BaseException:
            self.close()
            raise

    async def add_text(self, tgid: int, text: tuple[int, int]) -> None:
        def put() -> None:
            with self._lock:
                if not self._closed:
                    self.put_text(tgid, text)

        await in_thread(put)

    def put_text(self, tgid: int, text: tuple[int, int]) -> None:
        """One that does not fit is left out: its callers are not repaired."""
        with contextlib.suppress(LibbpfError):
            self._loaded.put("texts", bpf_maps.TGID.pack(tgid), bpf_maps.TEXT.pack(*text))

    async def discard(self) -> None:
        await in_thread(self.close)

    def close(self) -> None:
        with self._lock:
            self._close()

    @property
    def program_fd(self) -> int:
        """The program's descriptor, whose /proc/self/fdinfo has the kernel's statistics of it."""
        return self._loaded.program_fd(self._program)

    def _close(self) -> None:
        self._loaded.close()
        self._closed = True

    def _programs(self) -> tuple[SeenProgram, ...]:
        """Those that were seen since the last call."""
        programs = self._loaded.drain(
            "programs",
            key_size=bpf_maps.TASK.size,
            value_size=bpf_maps.PROGRAM.size,
            batch=BATCH,
        )
        return tuple(bpf_maps.seen_program(*one) for one in programs)

    def _take(
        self,
        read: Callable[..., Iterator[tuple[bytes, bytes]]],
        *,
        turn: int | None,
        more: Iterable[tuple[bytes, bytes]] = (),
    ) -> tuple[list[bytes], list[bytes]]:
        """Add up the rows of *turn*, or all, and *more* rows; the keys of stacks and of rows that were
        there."""
        stacks = {}
        for key, value in read(
            "stacks", key_size=bpf_maps.HASH.size, value_size=bpf_maps.STACK.size, batch=BATCH
        ):
            (number,) = bpf_maps.HASH.unpack(key)
            if turn is None or number & 1 == turn:
                stacks[number] = bpf_maps.parse_stack(value)
        rows = [
            (key, value)
            for key, value in read(
                "rows", key_size=bpf_maps.ROW.size, value_size=bpf_maps.COUNT.size, batch=BATCH
            )
            if turn is None or bpf_maps.turn_of(key) == turn
        ]
        for row, count in bpf_maps.with_stacks((*rows, *more), stacks, deepest=deepest()):
            self._sums.add(row, count)
        return list(map(bpf_maps.HASH.pack, stacks)), [key for key, _ in rows]

    def _counters(self) -> Counters:
        return bpf_maps.sum_counters(
            self._loaded.get_per_cpu("counters", FIRST, size=bpf_maps.COUNTERS.size)
        )

    @contextlib.contextmanager
    def _open(self) -> Iterator[None]:
        if self._closed:
            raise RuntimeError("stopped already")
        try:
            yield
        except LibbpfError as error:
            raise refused(error) from error


def deepest() -> int:
    with contextlib.suppress(OSError, ValueError):
        limit = int(Path("/proc/sys/kernel/perf_event_max_stack").read_text())
        return min(bpf_maps.DEEPEST, limit)
    return bpf_maps.DEEPEST


def _wish(selection: TargetSelection) -> bytes:
    controller = CONTROLLERS.index(selection.controller) + 1 if selection.controller else 0
    seed = secrets.randbits(64)
    return bpf_maps.WISH.pack(
        selection.id, seed, _SELECTIONS[selection.by], controller, deepest(), selection.threads
    )


def refused(error: LibbpfError) -> ProfileRefused:
    if error.errno == errno.EPERM:
        return ProfileRefused(
            "rights",
            f"the kernel refused the sampling program ({error})",
            remedy=f"{RIGHTS_REMEDY}; a kernel in lockdown forbids it to everybody",
        )
    return ProfileRefused(
        "kernel",
        f"the kernel did not take the sampling program ({error})",
        remedy="report this with the version of the kernel"
        + (" and of its headers" if error.call == "bcc" else ""),
    )


async def in_thread(
    work: Callable[[], T],
    *,
    orphaned: Callable[[T], None] | None = None,
    within_s: float = _CALL_S,
) -> T:
    """Do *work* in a thread. *orphaned* ends what it brings too late, when nobody waits for it."""
    task = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        async with asyncio.timeout(within_s):
            return await asyncio.shield(task)
    except TimeoutError:
        raise ProfileRefused(
            "kernel",
            f"the kernel did not answer within {within_s:g} s",
            remedy="ask again when the node is less busy",
        ) from None
    finally:
        if not task.done():
            task.add_done_callback(lambda done: _end(done, orphaned))


def _end(done: "asyncio.Future[T]", orphaned: Callable[[T], None] | None) -> None:
    if not done.cancelled() and done.exception() is None and orphaned is not None:
        orphaned(done.result())
