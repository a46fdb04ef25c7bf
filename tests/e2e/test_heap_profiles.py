"""Heap profiles from outside, against what real Go programs write of themselves at the same moment.

Built as those of test_symbols.py are: with this machine's Go, and with each other that OTHER_GO names; or
else, for a machine that has none, found in the folder that BUILT_HEAPS names.
"""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nemutator_agent.app.workers import heap_worker, symbol_worker
from nemutator_agent.profiler.heap import count_places, runtime_variables
from nemutator_agent.profiler.heap.messages import CountAnswer, CountPlaces
from nemutator_agent.profiler.heap.proc_mem import ProcMem
from nemutator_agent.profiler.heap.reading import HeapReader
from nemutator_agent.profiler.heap.sites import HeapReading
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_common.profiles import pprof
from nemutator_common.profiles.heap import Allocated, HeapProfile

from tests.agent.profiler.symbols.files import image
from tests.e2e import go_frames
from tests.e2e.test_symbols import gos
from tests.fakes.ending_targets import EndingFiles, EndingMemories, EndingTarget
from tests.fakes.process import fake_process

SOURCE = Path(__file__).parent.parent / "golden" / "go" / "heap" / "main.go"
UNUSED = """package main

import (
	"io"
	"os"
)

func main() { io.Copy(os.Stdout, os.Stdin) }
"""

pytestmark = pytest.mark.e2e

BUILDS = ("stripped", "position independent, stripped")
BUILT = os.environ.get("BUILT_HEAPS", "")

MOST_STEPS = 60

Site = tuple[tuple[str, str, int], ...]
"""Functions, files and lines, the innermost first."""


@pytest.fixture(scope="module", params=[""] if BUILT else gos() or [""])
def go(request: pytest.FixtureRequest) -> str:
    if not request.param and not BUILT:
        pytest.skip("no Go on this machine: apt-get install golang")
    return str(request.param)


@pytest.fixture(scope="module", params=BUILDS)
def program(
    go: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    if BUILT:
        return Path(BUILT, request.param)
    path = tmp_path_factory.mktemp("go") / "heap"
    go_frames.build(go, request.param, path, source=SOURCE)
    return path


@dataclass
class Running:
    process: "subprocess.Popen[str]"
    version: str

    def told(self, line: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def own_profile(self, file: Path) -> HeapProfile:
        assert self.told(str(file)) == "written <nil>"
        return pprof.decode_heap(file.read_bytes())


@contextlib.contextmanager
def running(path: Path, *words: str) -> Iterator[Running]:
    with subprocess.Popen(
        [path, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield Running(process, process.stdout.readline().strip())
        finally:
            process.kill()


@contextlib.contextmanager
def waiting(path: Path) -> Iterator[int]:
    """Any program, once it has answered a line or said something."""
    with subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


async def read(pid: int) -> HeapReading:
    """Through the memory of the living process and the workers, as the agent does it."""
    files, symbols, heaps = ProcMaps(), symbol_worker(), heap_worker()
    process = fake_process()
    reader = HeapReader(files, ProcMem(), heaps, WorkerSymboliser(files, symbols, process), process)
    try:
        return await reader.read([pid])
    finally:
        symbols.stop()
        heaps.stop()


async def counted(pid: int) -> CountAnswer:
    """The same of what the runtime counts."""
    files, symbols, heaps = ProcMaps(), symbol_worker(), heap_worker()
    process = fake_process()
    reader = HeapReader(files, ProcMem(), heaps, WorkerSymboliser(files, symbols, process), process)
    found = await reader.program_of(pid, is_meant=lambda: True, counted=True)
    assert found.counts is not None
    return found.counts


def sites(heap: HeapProfile) -> dict[Site, Allocated]:
    """Type arguments are left out, as everywhere in our profiles. Both leave out the runtime's innermost
    calls, but Go names them by what stands behind the call, which may be in another function."""
    found: dict[Site, Allocated] = {}
    for stack, allocated in heap.sites:
        frames = [heap.frames[number] for number in stack]
        while len(frames) > 1 and frames[0].function.startswith(("runtime.", "internal/runtime/")):
            frames.pop(0)
        site = tuple(
            (re.sub(r"\[.*\]", "[...]", one.function), one.file, one.line) for one in frames
        )
        found[site] = found.get(site, Allocated()).plus(allocated)
    return {site: allocated for site, allocated in found.items() if allocated.objects}


def of_its_work(heap: HeapProfile) -> HeapProfile:
    """Without what the program allocates to read a line and to write its own profile: before any
    collection that counts at once, and chance records one of these small allocations now and then."""
    work = {number for number, one in enumerate(heap.frames) if one.function == "main.work"}
    return replace(heap, sites=tuple(one for one in heap.sites if not work.isdisjoint(one[0])))


def assert_equal(ours: HeapProfile, theirs: HeapProfile) -> int:
    """Every site, objects and bytes, but for a rounding of one in each size of objects."""
    found, wanted = sites(ours), sites(theirs)
    assert found.keys() == wanted.keys()
    for site, allocated in wanted.items():
        assert found[site] == pytest.approx(allocated, abs=8, rel=1e-9), site
    return len(wanted)


@pytest.mark.parametrize("rate", ["usual", "all"])
async def test_every_site_is_the_programs_own(program: Path, rate: str, tmp_path: Path) -> None:
    with running(program, rate) as heap:
        ours = await read(heap.process.pid)
        compared = assert_equal(
            pprof.decode_heap(ours.pprof), heap.own_profile(tmp_path / "own.pb.gz")
        )
        print(f"\n{heap.version}: {compared} sites are equal; {ours.notes}")
        assert "as of garbage collection" in ours.notes[0]
        assert heap.told("more") == "more"
        ours = await read(heap.process.pid)
        assert_equal(pprof.decode_heap(ours.pprof), heap.own_profile(tmp_path / "more.pb.gz"))
        assert compared >= (20 if rate == "all" else 3)


async def test_the_runtimes_counts_are_those_that_it_tells_itself(program: Path) -> None:
    """Also with ended goroutines that are kept for reuse, by processors and by all together."""
    with running(program, "usual") as heap:
        for parked in (0, 300, 40, 170):
            own, counts = await both(heap, parked)
            assert (counts.goroutines, counts.collections, counts.pauses_ns) == own
            assert (counts.flaw, counts.goroutines > parked) == ("", True)
            print(f"\n{heap.version}: {own} are equal")


async def both(heap: Running, parked: int) -> tuple[tuple[int, ...], CountAnswer]:
    """What the program says itself, and what was read while it said the same before and after: after two
    idle minutes the runtime collects garbage by itself."""
    for _ in range(5):
        before = heap.told(f"goroutines {parked}")
        counts = await counted(heap.process.pid)
        if heap.told(f"goroutines {parked}") == before:
            return tuple(map(int, before.split())), counts
    raise AssertionError("the program has collected garbage whenever it was read")


async def test_before_any_collection_all_that_was_counted_is_there(
    program: Path, tmp_path: Path
) -> None:
    with running(program, "early") as heap:
        ours = await read(heap.process.pid)
        assert "before its first garbage collection" in ours.notes[0]
        theirs = heap.own_profile(tmp_path / "own.pb.gz")
        assert assert_equal(of_its_work(pprof.decode_heap(ours.pprof)), of_its_work(theirs))


async def test_a_program_that_records_nothing_is_told_so(program: Path) -> None:
    with running(program, "off") as heap, pytest.raises(ProfileRefused) as refused:
        await read(heap.process.pid)
    assert "has set runtime.MemProfileRate to 0" in refused.value.what


async def test_a_program_that_never_uses_the_profile_is_told_so(go: str, tmp_path: Path) -> None:
    source, path = tmp_path / "main.go", tmp_path / "unused"
    source.write_text(UNUSED)
    go_frames.build(go, "stripped", path, source=source)
    with waiting(path) as pid, pytest.raises(ProfileRefused) as refused:
        await read(pid)
    assert "nothing in it uses runtime.MemProfile" in refused.value.what


async def test_a_program_that_ends_at_any_step_is_gone(program: Path) -> None:
    """Each call for a file or for memory is a step; nothing stays open."""
    files, memories, symbols, heaps = ProcMaps(), ProcMem(), symbol_worker(), heap_worker()

    async def ended_at(step: int) -> tuple[str, bool]:
        """The reason of the refusal, and whether it came to that step."""
        with running(program, "usual") as heap:
            target = EndingTarget(heap.process, step=step)
            ending, process = EndingFiles(files, target), fake_process()
            symboliser = WorkerSymboliser(ending, symbols, process)
            held = EndingMemories(memories, target)
            reader = HeapReader(ending, held, heaps, symboliser, process)
            try:
                found = await reader.read([heap.process.pid])
            except ProfileRefused as refused:
                return refused.reason, target.has_ended
            assert pprof.decode_heap(found.pprof).sites
            return "", target.has_ended

    try:
        assert await ended_at(MOST_STEPS) == ("", False)
        before, reasons = len(os.listdir("/proc/self/fd")), list[str]()
        while (tried := await ended_at(len(reasons)))[1]:
            reasons.append(tried[0])
            assert len(os.listdir("/proc/self/fd")) == before
    finally:
        symbols.stop()
        heaps.stop()
    assert set(reasons) == {"gone"}
    assert 6 <= len(reasons) < MOST_STEPS


async def test_what_is_no_go_program_is_named() -> None:
    with waiting(Path("/bin/cat")) as pid, pytest.raises(ProfileRefused) as refused:
        await read(pid)
    assert refused.value.what == f"cat (pid {pid}) is no Go program"


@dataclass(frozen=True)
class Linked:
    """A program for a processor, with symbols."""

    go: GoSymbols
    symbols: dict[str, int]

    def distances(self, places: CountPlaces) -> tuple[int, ...]:
        """Of what the runtime counts from the variables that contain it."""
        scheduler, statistics = self.symbols["runtime.sched"], self.symbols["runtime.memstats"]
        of_scheduler = (one - scheduler for one in (places.system, *places.free))
        return (*of_scheduler, places.collections - statistics, places.free_of_processor)


def linked(go: str, path: Path, architecture: str) -> Linked:
    go_frames.build(go, "plain", path, architecture=architecture, source=SOURCE)
    said = subprocess.run([go, "tool", "nm", path], capture_output=True, text=True, check=True)
    symbols = re.findall(r"^ *([0-9a-f]+) \w (runtime\.\w+)$", said.stdout, re.MULTILINE)
    return Linked(
        GoSymbols(image(path.read_bytes())), {name: int(address, 16) for address, name in symbols}
    )


def test_the_variables_of_programs_for_arm64_are_found(go: str, tmp_path: Path) -> None:
    """As the symbols say of a program that has them, and those in structures where x86-64 has them."""
    built = linked(go, tmp_path / "arm64", "arm64")
    found, symbols = runtime_variables.find(built.go), built.symbols
    assert found.buckets == (symbols["runtime.mbuckets"],)
    assert found.rates == (symbols["runtime.MemProfileRate"],)
    # Until Go 1.18 it is the first member of a structure.
    cycle = symbols.get("runtime.mProfCycle") or symbols["runtime.mProf"]
    assert found.cycles == (cycle,)
    counts = count_places.find(built.go)
    assert counts is not None
    assert counts.goroutines == symbols["runtime.allgs"]
    assert counts.processors == symbols["runtime.allp"]
    other = linked(go, tmp_path / "amd64", "amd64")
    theirs = count_places.find(other.go)
    assert theirs is not None
    assert built.distances(counts) == other.distances(theirs)
