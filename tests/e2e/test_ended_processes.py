"""Processes that have ended before their names are looked up, as those of a crash loop have."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.bpf_maps import Samples
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.machine_targets import MachineTargets
from nemutator_agent.profiler.raw import RawProfile
from nemutator_agent.profiler.symbols.mappings import Mapping, OpenFile
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Profile
from nemutator_common.wire import ProfileTarget

from tests.e2e.control_groups import group_of, mounted
from tests.fakes.process import fake_process

pytestmark = pytest.mark.e2e

HZ = 199
PROGRAM = "ends_soon"
PATIENCE_S = 60.0

ENDS_SOON = r"""
volatile unsigned long sink;
__attribute__((noinline)) void burn(unsigned long times) {
    for (unsigned long i = 0; i < times; i++) sink += i * i;
}
int main(void) { for (int i = 0; i < 300; i++) burn(50000); return 1; }
"""


class CountedFiles(ProcMaps):
    def __init__(self) -> None:
        super().__init__()
        self.opened: set[str] = set()

    async def open(self, pid: int, mapping: Mapping) -> OpenFile:
        file = await super().open(pid, mapping)
        self.opened.add(mapping.path)
        return file


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes control groups")
async def test_a_crash_loop_has_names(tmp_path: Path) -> None:
    worker, files = symbol_worker(), CountedFiles()
    symboliser = WorkerSymboliser(files, worker, fake_process())
    try:
        with crash_loop(built(tmp_path)) as (group, start):
            resolved = await MachineTargets(KnownGroups()).resolve(ProfileTarget("cgroup", group))
            sampling = await KernelSampler().start(resolved.selection, hz=HZ, texts={})
            start()
            drains = 0
            async with asyncio.timeout(PATIENCE_S):
                while drains < 20 or str(tmp_path / PROGRAM) not in files.opened:
                    drains += 1
                    await asyncio.sleep(0.05)
                    for one in await sampling.drain():
                        await symboliser.keep(one)
            samples = await sampling.stop()
        named = await profile(symboliser, samples)
        symboliser.forget()
        gone = await profile(symboliser, samples)
    finally:
        worker.stop()
    print(named.notes, share_of(named, "burn"), share_of(named, "[gone]"))
    assert len({row.tgid for row in samples.rows}) > 3
    assert share_of(gone, "burn") == 0
    assert share_of(gone, "[gone]") > 0.5
    assert share_of(named, "burn") > 0.4
    assert share_of(named, "[gone]") < share_of(gone, "[gone]") / 2


@contextlib.contextmanager
def crash_loop(program: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """A shell that starts *program* again and again, once it is called upon; the path of its group."""
    _, mount = mounted()[0]
    loop = subprocess.Popen(
        ["sh", "-c", f"read _; while :; do {program}; done"], stdin=subprocess.PIPE
    )
    assert loop.stdin is not None
    try:
        with group_of(mount, ("", loop.pid)) as path:
            try:
                yield path, loop.stdin.close
            finally:
                loop.kill()
                loop.wait()
    finally:
        loop.kill()
        loop.wait()


def built(folder: Path) -> Path:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler: apt-get install gcc")
    source, program = folder / "ends_soon.c", folder / PROGRAM
    source.write_text(ENDS_SOON)
    # Without libraries: on a busy machine such short lives are mostly spent in finding and linking
    # them, and theirs are no names of the executable.
    options = ["-O1", "-static-pie", "-fPIE", "-fno-omit-frame-pointer"]
    subprocess.run([compiler, *options, "-o", program, source], check=True)
    return program


async def profile(symboliser: WorkerSymboliser, samples: Samples) -> Profile:
    raw = RawProfile(
        HZ, time.time(), 1.0, samples.rows, samples.recorded, samples.lost, cpu_seconds=None
    )
    content, _ = await symboliser.symbolise(raw)
    return pprof.decode(content)


def share_of(found: Profile, function: str) -> float:
    """The share of the samples whose innermost function it is."""
    with_it = sum(
        count for stack, count in found.stacks if found.frames[stack[0]].function == function
    )
    return with_it / found.recorded
