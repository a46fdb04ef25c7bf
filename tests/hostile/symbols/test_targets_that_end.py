"""A real process that ends at each step of naming its addresses: the profile is made, and says so."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from nemutator_agent.app.workers import symbol_worker
from nemutator_agent.profiler.cpu_time import parse_process_image
from nemutator_agent.profiler.raw import RawProfile, RawRow, SeenProgram
from nemutator_agent.profiler.symbols.mappings import Mappings
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_agent.profiler.symbols.symbolising import WorkerSymboliser
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Profile

from tests.fakes.ending_targets import EndingFiles, EndingTarget
from tests.fakes.process import fake_process

MOST_STEPS = 60


def started() -> "subprocess.Popen[str]":
    """A small program with few files, which has begun: it has echoed a line, and waits for another."""
    process = subprocess.Popen(
        ["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    process.stdout.readline()
    return process


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def image_of(pid: int) -> int:
    return parse_process_image(Path(f"/proc/{pid}/stat").read_bytes())


def sampled(pid: int, image: int, mappings: Mappings) -> RawProfile:
    """As if it had been seen in each of its files, and in memory without one."""
    places = [one.start + 0x40 for one in mappings]
    rows = tuple(RawRow(pid, (place, places[0] + 9), (), (0, 0), 1, image) for place in places)
    return RawProfile(99, time.time(), 1.0, rows, len(rows), {}, None)


class Node:
    """The agent's own parts, and a process for each try."""

    def __init__(self) -> None:
        self.files = ProcMaps()
        self.worker = symbol_worker()

    async def profiled(self, *, step: int) -> tuple[Profile, bool]:
        """The profile of one that ends at that step, and whether it came to it."""
        with started() as process:
            mappings = await self.files.mappings(process.pid)
            image = image_of(process.pid)
            target = EndingTarget(process, step=step)
            symboliser = WorkerSymboliser(
                EndingFiles(self.files, target), self.worker, fake_process()
            )
            raw = sampled(process.pid, image, mappings)
            await symboliser.range_of(process.pid)
            await symboliser.keep(SeenProgram((process.pid, image), 1, 1, 1))
            content, _ = await symboliser.symbolise(raw)
            symboliser.forget()
            process.kill()
        made = pprof.decode(content)
        assert made.recorded == sum(count for _, count in made.stacks) == len(raw.rows)
        return made, target.has_ended


@pytest.mark.slow
async def test_it_is_named_as_far_as_it_lived_and_the_notes_say_the_rest() -> None:
    node = Node()
    try:
        whole, ended = await node.profiled(step=MOST_STEPS)
        assert not ended
        assert "[gone]" not in {one.function for one in whole.frames}
        before, steps = open_files(), 0
        while (tried := await node.profiled(step=steps))[1]:
            steps += 1
            made, _ = tried
            gone = any(one.function == "[gone]" for one in made.frames)
            assert gone == any("had ended" in note for note in made.notes)
            assert open_files() == before
    finally:
        node.worker.stop()
    assert 6 <= steps < MOST_STEPS
