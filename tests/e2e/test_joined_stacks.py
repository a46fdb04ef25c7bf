"""A program of Go that leaves the stack of its goroutine for C."""

import asyncio
import contextlib
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.raw import RawProfile
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_agent.profiler.targets import TargetSelection
from nemutator_common.profiles import pprof_decoder

from tests.contract.profiler.busy import until_used
from tests.fakes.process import fake_process

pytestmark = pytest.mark.e2e

HZ = 99

CALLS_C = """package main

/*
#cgo CFLAGS: -O2 -fomit-frame-pointer
static volatile unsigned long sink;
// So many values at once that the frame pointer's register is used for one of them.
__attribute__((noinline)) unsigned long burn(unsigned long n) {
	unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11;
	for (unsigned long l = 0; l < n; l++) {
		a ^= b << 3; b ^= c << 5; c ^= d << 7; d ^= e << 9; e ^= f << 11; f ^= g << 13;
		g ^= h << 1; h ^= i << 2; i ^= j << 4; j ^= k << 6; k ^= a << 8; sink += a;
	}
	return a + b + c + d + e + f + g + h + i + j + k;
}
unsigned long outer(unsigned long n) { return burn(n) + burn(n / 2); }
*/
import "C"

var sink uint64

//go:noinline
func work() { sink += uint64(C.outer(20000)) }

func main() {
	for {
		work()
	}
}
"""


@contextlib.contextmanager
def calling_c(folder: Path) -> Iterator[int]:
    go = shutil.which("go")
    if go is None or shutil.which("gcc") is None:
        pytest.skip("no Go, or no gcc, on this machine: apt-get install golang gcc")
    if tuple(map(int, os.uname().release.split(".")[:2])) < (5, 15):
        pytest.skip("goroutines that wait are not looked for on this kernel")
    (folder / "go.mod").write_text("module busy\n\ngo 1.18\n")
    (folder / "main.go").write_text(CALLS_C)
    subprocess.run(
        [go, "build", "-buildvcs=false", "-o", "busy", "."],
        cwd=folder,
        env=os.environ | {"CGO_ENABLED": "1", "GOTOOLCHAIN": "local", "GOFLAGS": ""},
        check=True,
    )
    process = subprocess.Popen([folder / "busy"])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


async def stacks(
    pid: int, *, cpu_seconds: float
) -> tuple[Counter[tuple[str, ...]], tuple[str, ...]]:
    """By the names of functions, the innermost first; and what people are told of them."""
    sampling = await KernelSampler().start(TargetSelection("process", pid), hz=HZ, texts={})
    await asyncio.to_thread(until_used, pid, cpu_seconds)
    samples = await sampling.stop()
    raw = RawProfile(HZ, 0.0, 1.0, samples.rows, samples.recorded, samples.lost, None)
    worker = symbol_worker()
    try:
        content, notes = await WorkerSymboliser(ProcMaps(), worker, fake_process()).symbolise(raw)
    finally:
        worker.stop()
    profile = pprof_decoder.decode(content)
    found: Counter[tuple[str, ...]] = Counter()
    for stack, count in profile.stacks:
        found[tuple(profile.frames[place].function for place in stack)] += count
    for names, count in found.most_common(5):
        print(count, " < ".join(names))
    return found, notes


async def test_c_that_keeps_no_frame_pointers_stands_above_its_goroutine(tmp_path: Path) -> None:
    with calling_c(tmp_path) as pid:
        found, notes = await stacks(pid, cpu_seconds=1)
    in_c = Counter({names: count for names, count in found.items() if "burn" in names})
    beneath = ("[broken in C]", "runtime.cgocall", "main._Cfunc_outer", "main.work", "main.main")
    whole = sum(
        count for names, count in in_c.items() if names[names.index("burn") + 1 :][:5] == beneath
    )
    assert in_c.total() > 0.8 * found.total()
    assert whole == in_c.total()
    # And the few that are in another function of C at that moment.
    told = re.search(r"(\d+) of (\d+) samples are of C called from Go", " ".join(notes))
    assert told is not None
    assert whole <= int(told[1]) <= int(told[2]) == found.total()
