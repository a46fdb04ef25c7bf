"""Real programs, sampled by the real kernel, in each kind of control group that this machine has."""

import asyncio
import contextlib
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.profiler.bpf_maps import Samples
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.machine_targets import MachineTargets
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.targets import TargetSelection
from nemutator_common.wire import ProfileTarget

from tests.contract.profiler.busy import AGREES, BURSTS, SPIN, busy, until_used
from tests.e2e.sampled import HZ, sampled

pytestmark = pytest.mark.e2e
SYSTEM_CALLS = "import os\nwhile True: os.stat('/proc/self/status')"
C_PROGRAM = r"""
#include <stdlib.h>
volatile unsigned long sink;
__attribute__((noinline)) void burn(unsigned long times) {
    for (unsigned long i = 0; i < times; i++) sink += i * i;
}
__attribute__((noinline)) void work(unsigned long times) { burn(times); sink++; }
int main(void) { for (;;) work(100000); }
"""


TWO_THREADS = r"""
#define _GNU_SOURCE
#include <pthread.h>
volatile unsigned long sinks[2];
__attribute__((noinline)) void burn(volatile unsigned long *sink) { for (unsigned long i = 0; i < 100000; i++) *sink += i; }
void *other(void *unused) { for (;;) burn(&sinks[1]); return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    pthread_setname_np(thread, "evil\x1b[31m");
    for (;;) burn(&sinks[0]);
}
"""


FAULTING_PROGRAM = r"""
#include <sys/mman.h>
#define SIZE (1 << 22)
__attribute__((noinline)) void touch(char *memory) {
    for (long at = 0; at < SIZE; at += 4096) ((volatile char *)memory)[at] = 1;
}
__attribute__((noinline)) void work(char *memory) { touch(memory); madvise(memory, SIZE, MADV_DONTNEED); }
int main(void) {
    char *memory = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    for (;;) work(memory);
}
"""


DEEP_PROGRAM = r"""
volatile unsigned long sink;
__attribute__((noinline)) unsigned long down(unsigned long depth) {
    if (!depth) { for (unsigned long i = 0; i < 1000000; i++) sink += i; return sink; }
    return down(depth - 1) + 1;
}
int main(void) { for (;;) sink += down(300); }
"""


MANY_STACKS = r"""
volatile unsigned long sink;
__attribute__((noinline)) void spin(void) { for (int i = 0; i < 2000; i++) sink += i; }
void right(unsigned bits, int depth);
__attribute__((noinline)) void left(unsigned bits, int depth) {
    if (!depth) spin(); else if (bits & 1) right(bits >> 1, depth - 1); else left(bits >> 1, depth - 1);
    sink++;
}
__attribute__((noinline)) void right(unsigned bits, int depth) {
    if (!depth) spin(); else if (bits & 1) right(bits >> 1, depth - 1); else left(bits >> 1, depth - 1);
    sink++;
}
int main(void) { for (unsigned n = 0;; n++) left(n * 2654435761u >> 8, 14); }
"""


@pytest.fixture
def targets() -> MachineTargets:
    return MachineTargets(KnownGroups())


@pytest.mark.parametrize("code", [SPIN, SYSTEM_CALLS], ids=["user", "kernel"])
async def test_a_process_is_sampled_as_long_as_it_runs(targets: MachineTargets, code: str) -> None:
    with busy(code) as pid, busy():
        resolved = await targets.resolve(ProfileTarget("pid", str(pid)))
        found = await sampled(resolved, pid=pid, seconds=2)
    assert found.samples.lost == {}
    assert abs(found.ratio - 1) < AGREES
    assert {row.tgid for row in found.samples.rows} == {pid}
    in_kernel = sum(row.count for row in found.samples.rows if row.kernel)
    share = in_kernel / found.samples.recorded
    assert share < 0.2 if code == SPIN else share > 0.3


async def test_a_process_that_only_ever_runs_for_a_moment_is_seen_as_often_as_it_runs(
    targets: MachineTargets,
) -> None:
    with busy(BURSTS) as pid:
        resolved = await targets.resolve(ProfileTarget("pid", str(pid)))
        found = await sampled(resolved, pid=pid, seconds=0.5)
    assert abs(found.ratio - 1) < 0.6


@dataclass(frozen=True)
class Program:
    """A C program that runs, and where its functions are."""

    pid: int
    functions: dict[str, tuple[int, int]]

    def function_at(self, address: int) -> str:
        at = (name for name, (begin, end) in self.functions.items() if begin <= address < end)
        return next(at, "?")


@contextlib.contextmanager
def compiled(tmp_path: Path, source: str, *, leaf_frames: bool = True) -> Iterator[Program]:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler: apt-get install gcc")
    (tmp_path / "program.c").write_text(source)
    file = tmp_path / "program"
    # Without optimising, gcc gives each function a frame.
    frames = ["-O0"] if leaf_frames else ["-O1", "-momit-leaf-frame-pointer"]
    subprocess.run(
        [compiler, *frames, "-pthread", "-no-pie", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
         "-o", file, tmp_path / "program.c"],
        check=True,
    )  # fmt: skip
    process = subprocess.Popen([file])
    try:
        yield Program(process.pid, functions(file))
    finally:
        process.kill()
        process.wait()


def functions(program: Path) -> dict[str, tuple[int, int]]:
    """Begin and end of each function of an executable that is not moved when it is loaded."""
    listing = subprocess.run(
        ["nm", "--print-size", program], check=True, capture_output=True, text=True
    ).stdout
    shape = r"^([0-9a-f]+) ([0-9a-f]+) [tT] (\w+)$"
    return {
        name: (int(begin, 16), int(begin, 16) + int(size, 16))
        for begin, size, name in re.findall(shape, listing, re.MULTILINE)
    }


async def test_the_stacks_are_those_of_the_program(targets: MachineTargets, tmp_path: Path) -> None:
    with compiled(tmp_path, C_PROGRAM) as program:
        resolved = await targets.resolve(ProfileTarget("pid", str(program.pid)))
        found = await sampled(resolved, pid=program.pid, seconds=1)
    right = 0
    for row in found.samples.rows:
        callers = [program.function_at(address - 1) for address in row.user[1:3]]
        if [program.function_at(row.user[0]), *callers] == ["burn", "work", "main"]:
            right += row.count
    print(f"{right} of {found.samples.recorded} are burn < work < main")
    assert right > 0.9 * found.samples.recorded


async def test_threads_are_told_apart_and_named_when_asked_for(
    targets: MachineTargets, tmp_path: Path
) -> None:
    with compiled(tmp_path, TWO_THREADS) as program:
        resolved = await targets.resolve(ProfileTarget("pid", str(program.pid)))
        apart = replace(resolved, selection=replace(resolved.selection, threads=True))
        found = await sampled(apart, pid=program.pid, seconds=1)
        together = await sampled(resolved, pid=program.pid, seconds=0.2)
        threads = set(map(int, os.listdir(f"/proc/{program.pid}/task")))
        seen = {(row.tgid, row.thread) for row in found.samples.rows}
        names = await targets.thread_names({*seen, (program.pid, 1)})
    assert len(threads) == 2
    assert seen == {(program.pid, thread) for thread in threads}
    other = max(threads - {program.pid})
    assert names == {(program.pid, program.pid): "program", (program.pid, other): "evil\\x1b[31m"}
    assert {row.thread for row in together.samples.rows} == {0}


async def test_what_a_process_did_before_it_called_exec_is_told_apart(
    targets: MachineTargets, tmp_path: Path
) -> None:
    with compiled(tmp_path, C_PROGRAM):
        pass
    then = f"import os, time\nwhile time.process_time() < 0.6: pass\nos.execv({str(tmp_path / 'program')!r}, ['x'])"
    with busy(then) as pid:
        resolved = await targets.resolve(ProfileTarget("pid", str(pid)))
        found = await sampled(resolved, pid=pid, seconds=1.2)
        mappings = await ProcMaps().mappings(pid)
    where = functions(tmp_path / "program")
    burning = range(*where["burn"])
    now = Counter[bool]()
    for row in found.samples.rows:
        if row.user:
            now[mappings.are_of(row.image)] += row.count
            assert row.user[0] not in burning or mappings.are_of(row.image)
    print(f"{now[False]} samples are of the program before, {now[True]} of this one")
    assert now[False] > 20
    assert now[True] > 20


@pytest.mark.parametrize(
    ("sampler", "reason"),
    [
        (KernelSampler(most_stacks=4), "stacks_full"),
        (KernelSampler(most_rows=4), "rows_full"),
    ],
    ids=["stacks", "rows"],
)
async def test_what_does_not_fit_is_lost_and_counted(
    targets: MachineTargets, sampler: KernelSampler, reason: str
) -> None:
    with busy(SYSTEM_CALLS) as pid:
        resolved = await targets.resolve(ProfileTarget("pid", str(pid)))
        found = await sampled(resolved, pid=pid, seconds=2, sampler=sampler)
    assert found.samples.recorded > 0
    assert set(found.samples.lost) == {reason}
    assert abs(found.ratio - 1) < AGREES
    assert sum(row.count for row in found.samples.rows) == found.samples.recorded


async def test_more_stacks_than_the_maps_hold_are_taken_out_meanwhile(
    targets: MachineTargets, tmp_path: Path
) -> None:
    most = 512
    with compiled(tmp_path, MANY_STACKS) as program:
        resolved = await targets.resolve(ProfileTarget("pid", str(program.pid)))
        sampling = await KernelSampler(most_stacks=most).start(resolved.selection, hz=999, texts={})
        async with asyncio.TaskGroup() as group:
            used = group.create_task(asyncio.to_thread(until_used, program.pid, 2))
            while not (await asyncio.wait({used}, timeout=0.02))[0]:
                await sampling.drain()
        samples = await sampling.stop()
    stacks, lost = len({row.user for row in samples.rows}), sum(samples.lost.values())
    print(f"{stacks} stacks, recorded={samples.recorded} lost={samples.lost}")
    assert stacks > most
    assert lost < 0.2 * samples.recorded
    assert set(samples.lost) <= {"stacks_full"}
    assert samples.recorded == sum(row.count for row in samples.rows)
    whole = [row for row in samples.rows if "main" in map(program.function_at, row.user[15:17])]
    assert sum(row.count for row in whole) > 0.9 * samples.recorded


async def test_a_program_is_told_with_its_executable_and_its_place(
    targets: MachineTargets, tmp_path: Path
) -> None:
    with compiled(tmp_path, C_PROGRAM) as program:
        resolved = await targets.resolve(ProfileTarget("pid", str(program.pid)))
        sampling = await KernelSampler().start(resolved.selection, hz=HZ, texts={})
        await asyncio.to_thread(until_used, program.pid, 0.2)
        (seen,) = await sampling.drain()
        samples = await sampling.stop()
        stat = await asyncio.to_thread(Path(f"/proc/{program.pid}/stat").read_bytes)
        executable = await asyncio.to_thread((tmp_path / "program").stat)
    assert {row.task for row in samples.rows} == {seen.task}
    assert seen.inode == executable.st_ino
    assert seen.device > 0
    assert seen.code == int(stat.split()[25])


async def test_the_caller_of_a_leaf_without_frame_is_in_the_words(
    targets: MachineTargets, tmp_path: Path
) -> None:
    with compiled(tmp_path, C_PROGRAM, leaf_frames=False) as program:
        resolved = await targets.resolve(ProfileTarget("pid", str(program.pid)))

        async def with_text(begin: int, end: int, *, late: bool = False) -> Samples:
            texts = {program.pid: (begin, end)}
            sampling = await KernelSampler().start(
                resolved.selection, hz=HZ, texts={} if late else texts
            )
            if late:
                await sampling.add_text(program.pid, texts[program.pid])
            await asyncio.to_thread(until_used, program.pid, 0.5)
            return await sampling.stop()

        ends = [end for _, end in program.functions.values()]
        kept = await with_text(program.functions["burn"][0], max(ends))
        late = await with_text(program.functions["burn"][0], max(ends), late=True)
        # Where no process has anything: a small number may well stand on a stack.
        none = await with_text(1 << 62, (1 << 62) + 1)
    assert any(row.words[0] for row in late.rows)
    user = [row for row in kept.rows if row.user and not row.kernel]
    in_leaf = [row for row in user if program.function_at(row.user[0]) == "burn"]
    # By frame pointers `main` called it. The word says who did.
    assert {program.function_at(row.user[1] - 1) for row in in_leaf} == {"main"}
    assert {program.function_at(row.words[0] - 1) for row in in_leaf} == {"work"}
    assert {row.words for row in none.rows} == {(0, 0)}


async def test_the_caller_of_a_leaf_that_is_in_the_kernel_is_in_the_words(
    targets: MachineTargets, tmp_path: Path
) -> None:
    if tuple(map(int, os.uname().release.split(".")[:2])) < (5, 15):
        pytest.skip("this kernel gives no program the registers of user mode")
    with compiled(tmp_path, FAULTING_PROGRAM, leaf_frames=False) as program:
        resolved = await targets.resolve(ProfileTarget("pid", str(program.pid)))
        texts = {program.pid: program.functions["work"]}
        sampling = await KernelSampler().start(resolved.selection, hz=HZ, texts=texts)
        await asyncio.to_thread(until_used, program.pid, 0.5)
        samples = await sampling.stop()
    faults = [
        row for row in samples.rows if row.kernel and program.function_at(row.user[0]) == "touch"
    ]
    assert sum(row.count for row in faults) > 0.3 * samples.recorded
    # By frame pointers `main` called it. The word says who did.
    assert {program.function_at(row.user[1] - 1) for row in faults} == {"main"}
    assert {program.function_at(row.words[0] - 1) for row in faults} == {"work"}


async def test_the_verifier_is_far_from_its_limit() -> None:
    """A million instructions: each kernel counts its own, and a person waits meanwhile."""
    sampling = await KernelSampler().start(TargetSelection("process", 1), hz=HZ, texts={})
    try:
        about = await asyncio.to_thread(Path(f"/proc/self/fdinfo/{sampling.program_fd}").read_text)
    finally:
        await sampling.discard()
    counted = re.search(r"^verified_insns:\s*(\d+)$", about, re.MULTILINE)
    if counted is None:
        pytest.skip("this kernel does not tell")
    print(counted[0])
    assert int(counted[1]) < 60_000


async def test_a_stack_that_is_too_deep_is_counted(targets: MachineTargets, tmp_path: Path) -> None:
    with compiled(tmp_path, DEEP_PROGRAM) as program:
        resolved = await targets.resolve(ProfileTarget("pid", str(program.pid)))
        found = await sampled(resolved, pid=program.pid, seconds=1)
    assert found.samples.truncated > 0.9 * found.samples.recorded > 0
    assert max(len(row.user) for row in found.samples.rows) == 127
