"""Names of a real Go program's addresses, against what its own runtime says of them.

Built with this machine's Go, and with each other `go` that OTHER_GO names, with colons between them;
or else, for a machine that has none, found in the folder that BUILT_FRAMES names.
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.inspection.confined_worker import ConfinedWorker
from nemutator_agent.profiler.raw import RawProfile, RawRow
from nemutator_agent.profiler.symbols.asking import ask
from nemutator_agent.profiler.symbols.mappings import Mapping
from nemutator_agent.profiler.symbols.messages import MOST_ADDRESSES, SymbolQuestion
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Frame

from tests.e2e import go_frames
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

Named = tuple[str, str, int]
"""Function, file and line."""


BUILT = os.environ.get("BUILT_FRAMES", "")

PATIENCE_S = 300.0


def gos() -> list[str]:
    others = os.environ.get("OTHER_GO", "").split(":")
    return [path for path in (shutil.which("go") or "", *others) if path and not BUILT]


@dataclass(frozen=True)
class Point:
    pc: int
    named: Named


@dataclass
class Program:
    """A living one, and what it told of itself."""

    pid: int
    path: Path
    version: str
    stacks: list[list[Point]]
    points: list[Point]


@pytest.fixture(scope="module", params=gos() or [""])
def go(request: pytest.FixtureRequest) -> str:
    if not request.param and not BUILT:
        pytest.skip("no Go on this machine: apt-get install golang")
    return str(request.param)


@pytest.fixture(scope="module", params=go_frames.BUILDS)
def program(
    go: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Program]:
    if BUILT:
        path = Path(BUILT, request.param)
        if not path.exists():
            pytest.skip(f"not built for this machine: {request.param}")
    else:
        if go_frames.by_gcc(request.param) and shutil.which("gcc") is None:
            pytest.skip("no gcc on this machine: apt-get install gcc")
        path = tmp_path_factory.mktemp("go") / "frames"
        go_frames.build(go, request.param, path)
    with subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        print(f"\n{told['version']}, {request.param}")
        yield Program(
            process.pid,
            path,
            told["version"],
            [[_point(one) for one in stack] for stack in told["stacks"]],
            [_point(one) for one in told["points"]],
        )
        process.stdin.close()  # type: ignore[union-attr]


def _point(told: dict[str, object]) -> Point:
    # What lies between functions has no file, which the runtime writes as a question mark.
    file = "" if told["file"] == "?" else str(told["file"])
    return Point(int(str(told["pc"])), (str(told["function"]), file, int(str(told["line"]))))


@pytest.fixture
def worker() -> Iterator[ConfinedWorker]:
    process = symbol_worker()
    yield process
    process.stop()


async def frames_of(
    program: Program, worker: ConfinedWorker, pcs: list[int]
) -> dict[int, tuple[Frame, ...]]:
    """Through the mapping of the living process and the worker, as a profile does it."""
    files = ProcMaps()
    mappings = await files.mappings(program.pid)
    by_mapping: dict[Mapping, list[int]] = {}
    for pc in sorted(set(pcs)):
        mapping = mappings.at(pc)
        assert mapping is not None
        by_mapping.setdefault(mapping, []).append(pc)
    found = {}
    for mapping, inside in by_mapping.items():
        file = await files.open(program.pid, mapping)
        try:
            for start in range(0, len(inside), MOST_ADDRESSES):
                some = inside[start : start + MOST_ADDRESSES]
                places = tuple(pc - mapping.start + mapping.offset for pc in some)
                answer = await ask(worker, SymbolQuestion(False, places), file.file)
                assert answer.notes == ()
                for pc, stack in zip(some, answer.places, strict=True):
                    assert stack is not None
                    found[pc] = tuple(answer.frames[one] for one in stack)
        finally:
            files.close(file)
    return found


def calls_of(stack: list[Point], frames: dict[int, tuple[Frame, ...]]) -> Iterator[Point]:
    """The physical calls of a stack: the runtime lists what was inlined into one as more of them."""
    at = 0
    while at < len(stack):
        yield stack[at]
        at += max(len(frames[stack[at].pc - 1]), 1)


def build_id_of(path: Path) -> str:
    """As binutils read it; gcc and Go since 1.24 write one."""
    said = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True, check=True)
    found = re.search("Build ID: ([0-9a-f]+)", said.stdout)
    return found[1] if found else ""


def named(frame: Frame) -> Named:
    return frame.function, frame.file, frame.line


async def test_every_frame_is_the_runtimes_own(program: Program, worker: ConfinedWorker) -> None:
    pcs = [point.pc - 1 for stack in program.stacks for point in stack]
    frames = await frames_of(program, worker, pcs)
    compared = inlined = 0
    for stack in program.stacks:
        ours = [frame for call in calls_of(stack, frames) for frame in frames[call.pc - 1]]
        assert [named(frame) for frame in ours] == [point.named for point in stack]
        compared += len(ours)
        inlined += sum(frame.inlined for frame in ours)
    assert inlined > 10
    print(f"{compared} frames of {len(program.stacks)} stacks are equal, {inlined} were inlined")


async def test_every_address_of_many_functions_is_named_alike(
    program: Program, worker: ConfinedWorker
) -> None:
    pcs = [point.pc for point in program.points]
    started = time.perf_counter()
    frames = await frames_of(program, worker, pcs)
    took_us = (time.perf_counter() - started) * 1e6
    # No traceback shows them, though who asks for their addresses is told their names.
    wrappers = {point.named[0] for point in program.points if not frames[point.pc]}
    assert wrappers <= {"main.each[...]"}
    wrong = [
        (point, frames[point.pc])
        for point in program.points
        if point.named[0] not in wrappers and named(frames[point.pc][0]) != point.named
    ]
    assert wrong == []
    print(f"{len(pcs)} addresses are equal; {took_us / len(pcs):.0f} µs each")


async def test_a_whole_profile_is_what_the_runtime_would_say(
    program: Program, worker: ConfinedWorker, tmp_path: Path
) -> None:
    pcs = [point.pc - 1 for stack in program.stacks for point in stack]
    frames = await frames_of(program, worker, pcs)
    rows = []
    for count, stack in enumerate(program.stacks, start=1):
        calls = [call.pc for call in calls_of(stack, frames)]
        # The innermost was not called from there: it is where it was seen.
        user = (calls[0] - 1, *calls[1:])
        rows.append(RawRow(program.pid, user, (), (0, 0), count))
    recorded = sum(row.count for row in rows)
    labels = {program.pid: (("pid", str(program.pid)), ("pod", "shop"))}
    raw = RawProfile(99, time.time(), 1.0, tuple(rows), recorded, {"no_stack": 2}, 1.5, labels)
    symbolising = WorkerSymboliser(ProcMaps(), worker, process=fake_process(meter=MemoryMeter()))
    content, notes = await symbolising.symbolise(raw)
    assert notes == ()
    profile = pprof.decode(content)
    ours = {
        tuple(named(profile.frames[number]) for number in stack): count
        for stack, count in profile.stacks
    }
    theirs: Counter[tuple[Named, ...]] = Counter()
    for count, stack in enumerate(program.stacks, start=1):
        theirs[tuple(point.named for point in stack)] += count
    assert ours == theirs
    assert profile.recorded == recorded
    (binary,) = {frame.binary for frame in profile.frames}
    assert binary is not None
    assert binary.file == str(program.path)
    assert binary.build_id == build_id_of(program.path)
    assert all(binary.start <= frame.address < binary.limit for frame in profile.frames)

    first, end = await symbolising.range_of(program.pid) or (0, 0)
    assert all(first <= pc < end for pc in pcs)
    worker.stop()
    (tmp_path / "x.pb.gz").write_bytes(content)
    if not BUILT:
        _pprof_accepts(tmp_path / "x.pb.gz", recorded)


def _pprof_accepts(path: Path, recorded: int) -> None:
    tool = [shutil.which("go") or "go", "tool", "pprof"]
    options = ["-sample_index=samples", "-nodefraction=0", "-nodecount=1000"]
    said = subprocess.run(
        [*tool, "-top", *options, path],
        env=os.environ | {"PPROF_TMPDIR": str(path.parent)},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    ).stdout
    assert f"Total samples = {recorded} " in said
    assert "main.record" in said
    assert "(inline)" in said
    comments = subprocess.run(
        [*tool, "-comments", path], capture_output=True, text=True, check=True, timeout=PATIENCE_S
    ).stdout
    assert f"recorded {recorded}\nlost no_stack=2\ncpu_seconds 1.5\n" in comments
    for value, count in (("shop", recorded), ("till", 0)):
        focused = subprocess.run(
            [*tool, "-top", *options, f"-tagfocus=pod={value}", path],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE_S,
        ).stdout
        assert f"Showing nodes accounting for {count}, " in focused
