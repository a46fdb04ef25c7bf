"""Sampling by the kernel: one object loaded per session, so that an idle agent holds no maps."""

import asyncio
import contextlib
import errno
import os
import resource
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import nemutator_bpf

from nemutator_agent.profiler import bpf_maps, perf_events
from nemutator_agent.profiler.bpf_maps import Counters, Samples
from nemutator_agent.profiler.libbpf import Libbpf, LibbpfError, LoadedObject
from nemutator_agent.profiler.raw import SeenProgram
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.requirements import (
    RIGHTS_REMEDY,
    SamplerFacts,
    missing,
    parse_capabilities,
)
from nemutator_agent.profiler.row_sums import RowSums
from nemutator_agent.profiler.targets import CONTROLLERS, TargetSelection

T = TypeVar("T")

PROGRAM = "sample"

MOST_STACKS = 8192
"""They take 8.5 MiB of the kernel's memory while a session lasts, and are taken out before they are
too many."""

MOST_ROWS = 16384
"""They take 1 MiB. A stack is in several rows: by process, by kernel stack, by words."""

_CALL_S = 60.0
"""Loading takes some 20 ms and draining a full map 100 ms, but longer on a node that is out of CPU."""

_SAMPLES_TO_ROOM = 4
"""Of so much room one sample is taken to need one part: it may have three stacks of its own."""

_BATCH = 512
_SELECTIONS = {"process": 1, "group": 2, "v1_group": 3}
_FIRST = b"\0\0\0\0"


def facts(root: Path = Path("/")) -> SamplerFacts:
    return SamplerFacts(
        release=os.uname().release,
        processor=os.uname().machine,
        btf=(root / "sys/kernel/btf/vmlinux").exists(),
        capabilities=parse_capabilities((root / "proc/self/status").read_bytes()),
        locked_bytes=resource.getrlimit(resource.RLIMIT_MEMLOCK)[0],
        pid_namespace=(root / "proc/self/ns/pid").stat().st_ino,
    )


class KernelSampler:
    """Samples by eBPF, or says what it lacks for that. Calls block, so they run in threads."""

    def __init__(self, *, most_stacks: int = MOST_STACKS, most_rows: int = MOST_ROWS) -> None:
        self._entries = {"stacks": most_stacks, "rows": most_rows}
        self._libbpf: Libbpf | None = None

    async def start(
        self, selection: TargetSelection, *, hz: int, texts: Mapping[int, tuple[int, int]]
    ) -> "KernelSampling":
        return await _in_thread(
            lambda: self._start(selection, hz=hz, texts=texts), orphaned=KernelSampling.close
        )

    def _start(
        self, selection: TargetSelection, *, hz: int, texts: Mapping[int, tuple[int, int]]
    ) -> "KernelSampling":
        if refusal := missing(facts()):
            raise refusal
        content = nemutator_bpf.program(PROGRAM, os.uname().machine)
        self._libbpf = self._libbpf or Libbpf()
        try:
            loaded = self._libbpf.load(content, constants=_wish(selection), entries=self._entries)
        except LibbpfError as error:
            raise _refused(error) from error
        room = min(self._entries.values()) // _SAMPLES_TO_ROOM
        sampling = KernelSampling(loaded, drain_after=max(1, room))
        try:
            for tgid, text in texts.items():
                sampling.put_text(tgid, text)
            sampling.begin(hz)
        except LibbpfError as error:
            sampling.close()
            raise _refused(error) from error
        except BaseException:
            sampling.close()
            raise
        return sampling


class KernelSampling:
    def __init__(self, loaded: LoadedObject, *, drain_after: int) -> None:
        self._loaded = loaded
        self._drain_after = drain_after
        self._clocks: list[int] = []
        self._sums = RowSums()
        self._turn = 0
        self._drained_at = 0
        # A caller that is cancelled discards it while its thread still drains.
        self._lock = threading.Lock()
        self._closed = False

    def begin(self, hz: int) -> None:
        for cpu in perf_events.online_cpus():
            clock = perf_events.open_clock(cpu, hz=hz)
            if clock is None:
                continue
            try:
                self._loaded.attach_to_perf_event(PROGRAM, clock)
            except BaseException:
                os.close(clock)
                raise
            self._clocks.append(clock)
        perf_events.start(self._clocks)

    async def drain(self) -> tuple[SeenProgram, ...]:
        return await _in_thread(self._drain)

    async def add_text(self, tgid: int, text: tuple[int, int]) -> None:
        def put() -> None:
            with self._lock:
                if not self._closed:
                    self.put_text(tgid, text)

        await _in_thread(put)

    def put_text(self, tgid: int, text: tuple[int, int]) -> None:
        """One that does not fit is left out: its callers are not repaired."""
        with contextlib.suppress(LibbpfError):
            self._loaded.put("texts", bpf_maps.TGID.pack(tgid), bpf_maps.TEXT.pack(*text))

    async def stop(self) -> Samples:
        return await _in_thread(self._stop)

    async def discard(self) -> None:
        await _in_thread(self.close)

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        # The links close the clocks.
        self._clocks.clear()
        self._loaded.close()
        self._closed = True

    @property
    def program_fd(self) -> int:
        """The program's descriptor, whose /proc/self/fdinfo has the kernel's statistics of it."""
        return self._loaded.program_fd(PROGRAM)

    def _drain(self) -> tuple[SeenProgram, ...]:
        with self._lock, self._open():
            of_target = self._counters().of_target
            if of_target - self._drained_at >= self._drain_after:
                self._take_turn()
                self._drained_at = of_target
            programs = self._loaded.drain(
                "programs",
                key_size=bpf_maps.TASK.size,
                value_size=bpf_maps.PROGRAM.size,
                batch=_BATCH,
            )
            return tuple(bpf_maps.seen_program(*one) for one in programs)

    def _stop(self) -> Samples:
        with self._lock, self._open():
            try:
                perf_events.stop(self._clocks)
                self._loaded.detach()
                self._take(self._loaded.drain, turn=None)
                return bpf_maps.accounted(self._sums, self._counters())
            finally:
                self._close()

    def _take_turn(self) -> None:
        """Take out what there is, while more comes: that has the other turn."""
        ended, self._turn = self._turn, self._turn ^ 1
        self._loaded.put("turns", _FIRST, bpf_maps.TURN.pack(self._turn))
        perf_events.settle(self._clocks)
        stacks, rows = self._take(self._loaded.read, turn=ended)
        self._loaded.delete("rows", rows)
        self._loaded.delete("stacks", stacks)

    def _take(
        self, read: Callable[..., Iterator[tuple[bytes, bytes]]], *, turn: int | None
    ) -> tuple[list[bytes], list[bytes]]:
        """Add up the rows of *turn*, or all; the keys of stacks and of rows that were there."""
        stacks = {}
        for key, value in read(
            "stacks", key_size=bpf_maps.HASH.size, value_size=bpf_maps.STACK.size, batch=_BATCH
        ):
            (number,) = bpf_maps.HASH.unpack(key)
            if turn is None or number & 1 == turn:
                stacks[number] = bpf_maps.parse_stack(value)
        rows = [
            (key, value)
            for key, value in read(
                "rows", key_size=bpf_maps.ROW.size, value_size=bpf_maps.COUNT.size, batch=_BATCH
            )
            if turn is None or bpf_maps.turn_of(key) == turn
        ]
        for row, count in bpf_maps.with_stacks(rows, stacks, deepest=_deepest()):
            self._sums.add(row, count)
        return list(map(bpf_maps.HASH.pack, stacks)), [key for key, _ in rows]

    def _counters(self) -> Counters:
        return bpf_maps.sum_counters(
            self._loaded.get_per_cpu("counters", _FIRST, size=bpf_maps.COUNTERS.size)
        )

    @contextlib.contextmanager
    def _open(self) -> Iterator[None]:
        if self._closed:
            raise RuntimeError("stopped already")
        try:
            yield
        except LibbpfError as error:
            raise _refused(error) from error


def _deepest() -> int:
    with contextlib.suppress(OSError, ValueError):
        limit = int(Path("/proc/sys/kernel/perf_event_max_stack").read_text())
        return min(bpf_maps.DEEPEST, limit)
    return bpf_maps.DEEPEST


def _wish(selection: TargetSelection) -> bytes:
    controller = CONTROLLERS.index(selection.controller) + 1 if selection.controller else 0
    seed = secrets.randbits(64)
    return bpf_maps.WISH.pack(
        selection.id, seed, _SELECTIONS[selection.by], controller, _deepest(), 0
    )


def _refused(error: LibbpfError) -> ProfileRefused:
    if error.errno == errno.EPERM:
        return ProfileRefused(
            "rights",
            f"the kernel refused the sampling program ({error})",
            remedy=f"{RIGHTS_REMEDY}; a kernel in lockdown forbids it to everybody",
        )
    return ProfileRefused(
        "kernel",
        f"the kernel did not take the sampling program ({error})",
        remedy="report this with the version of the kernel",
    )


async def _in_thread(work: Callable[[], T], *, orphaned: Callable[[T], None] | None = None) -> T:
    """Do *work* in a thread. *orphaned* ends what it brings too late, when nobody waits for it."""
    task = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        async with asyncio.timeout(_CALL_S):
            return await asyncio.shield(task)
    except TimeoutError:
        raise ProfileRefused(
            "kernel",
            f"the kernel did not answer within {_CALL_S:g} s",
            remedy="ask again when the node is less busy",
        ) from None
    finally:
        if not task.done():
            task.add_done_callback(lambda done: _end(done, orphaned))


def _end(done: "asyncio.Future[T]", orphaned: Callable[[T], None] | None) -> None:
    if not done.cancelled() and done.exception() is None and orphaned is not None:
        orphaned(done.result())
