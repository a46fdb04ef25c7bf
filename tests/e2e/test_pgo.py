"""The Go compiler reads what `nemutator pgo` writes, and inlines what is hot."""

import asyncio
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.machine_targets import MachineTargets
from nemutator_agent.profiler.raw import RawProfile
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_common.errors import ExitCode
from nemutator_common.wire import ProfileTarget

from tests.contract.profiler.busy import until_used
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

pytestmark = pytest.mark.e2e

HZ = 199
CPU_S = 1.0

PROGRAM = """package main

var sink uint64

// price costs more than the compiler inlines by itself, and less than what it inlines of hot calls.
func price(basket *[64]uint64, tax uint64) uint64 {
	var total, most, least uint64
	for at := range basket {
		one := basket[at]*tax + uint64(at)
		if one > most {
			most = one
		}
		if one < least {
			least = one
		}
		switch {
		case one%7 == 0:
			total += one/7 + least
		case one%5 == 0:
			total ^= one << 5
		case one%3 == 0:
			total -= one >> 3
		default:
			total += one
		}
		basket[at] = total ^ most
	}
	return total + most - least
}

func main() {
	var basket [64]uint64
	for tax := uint64(1); ; tax++ {
		sink += price(&basket, tax)
	}
}
"""

INLINED = "inlining call to price"


def go(folder: Path, *words: str | Path) -> str:
    """What the command says."""
    ran = subprocess.run(
        ["go", *words],
        cwd=folder,
        env=os.environ | {"GOTOOLCHAIN": "local", "GOFLAGS": "", "CGO_ENABLED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


def compiled(folder: Path, profile: Path) -> str:
    """What the compiler says as it builds the program with *profile*.

    By the compiler and the linker, as `go build -pgo` calls them: that would compile all of Go's
    runtime anew as well, which takes minutes on a busy machine.
    """
    packages = "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}"
    known = go(folder, "list", "-export", "-deps", "-f", packages, "runtime")
    (folder / "importcfg").write_text(known)
    options = ("-p", "main", "-importcfg", "importcfg", "-pgoprofile", profile, "-m")
    said = go(folder, "tool", "compile", *options, "-o", "hot.o", "main.go")
    go(folder, "tool", "link", "-importcfg", "importcfg", "-o", "inlined", "hot.o")
    assert (folder / "inlined").stat().st_size > 0
    return said


async def sampled(pid: int) -> bytes:
    """As `observe` makes a profile."""
    worker = symbol_worker()
    try:
        resolved = await MachineTargets(KnownGroups()).resolve(ProfileTarget("pid", str(pid)))
        symboliser = WorkerSymboliser(ProcMaps(), worker, fake_process(meter=MemoryMeter()))
        text = await symboliser.range_of(pid)
        assert text is not None
        sampling = await KernelSampler().start(resolved.selection, hz=HZ, texts={pid: text})
        begun = time.monotonic()
        await asyncio.to_thread(until_used, pid, CPU_S)
        seconds = time.monotonic() - begun
        samples = await sampling.stop()
        raw = RawProfile(
            HZ, time.time(), seconds, samples.rows, samples.recorded, samples.lost, None
        )
        content, _ = await symboliser.symbolise(raw)
    finally:
        worker.stop()
    return content


def test_the_compiler_inlines_what_was_hot(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("no Go compiler")
    (tmp_path / "go.mod").write_text("module hot\n\ngo 1.21\n")
    (tmp_path / "main.go").write_text(PROGRAM)
    assert INLINED not in go(tmp_path, "build", "-pgo=off", "-gcflags=-m", "-o", "hot", ".")
    with subprocess.Popen([tmp_path / "hot"]) as program:
        try:
            content = asyncio.run(sampled(program.pid))
        finally:
            program.kill()
    profile, merged = tmp_path / "hot.pb.gz", tmp_path / "default.pgo"
    profile.write_bytes(content)
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "nemutator_ctl",
        "pgo",
        profile,
        profile,
        "-o",
        merged,
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == ExitCode.OK, ran.stderr
    assert "2 profiles: " in ran.stdout
    assert INLINED in compiled(tmp_path, merged)
