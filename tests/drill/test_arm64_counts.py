"""What Go's runtime counts in programs for arm64, whose processor is emulated for them alone: their memory
lies where it would lie without that."""

import os
from pathlib import Path

import pytest
from nemutator_agent.profiler.heap import count_places, counts
from nemutator_agent.profiler.heap.memory import Memory
from nemutator_agent.profiler.heap.messages import CountAnswer, CountPlaces
from nemutator_agent.profiler.symbols.go_symbols import GoSymbols

from tests.agent.profiler.symbols.files import image
from tests.e2e import go_frames
from tests.e2e.test_heap_profiles import SOURCE, Running, go, running
from tests.testbed.building import made
from tests.testbed.fixtures import skipped_when_missing

__all__ = ["go"]


@pytest.fixture
def emulator() -> Path:
    if made.this_machine().architecture != "amd64":
        pytest.skip("this machine runs them itself, or has another emulator")
    with skipped_when_missing():
        return made.debian("user-arm64") / "usr/bin/qemu-aarch64-static"


def test_they_are_those_that_programs_tell_themselves(
    go: str, emulator: Path, tmp_path: Path
) -> None:
    program = tmp_path / "heap"
    go_frames.build(go, "stripped", program, architecture="arm64", source=SOURCE)
    places = count_places.find(GoSymbols(image(program.read_bytes())))
    assert places is not None
    with running(emulator, str(program), "usual") as heap:
        for parked in (0, 300, 40, 170):
            own, found = both(heap, places, parked)
            print(f"\n{heap.version}: {own}")
            assert (found.goroutines, found.collections, found.pauses_ns) == own
            assert found.goroutines > parked


def both(heap: Running, places: CountPlaces, parked: int) -> tuple[tuple[int, ...], CountAnswer]:
    """What the program says itself, and what was read while it said the same before and after."""
    for _ in range(5):
        before = heap.told(f"goroutines {parked}")
        found = read(heap.process.pid, places)
        if heap.told(f"goroutines {parked}") == before:
            return tuple(map(int, before.split())), found
    raise AssertionError("the program has collected garbage whenever it was read")


def read(pid: int, places: CountPlaces) -> CountAnswer:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:

        def read_at(offset: int, size: int) -> bytes:
            try:
                return os.pread(memory.fileno(), size, offset)
            except OSError:
                return b""

        return counts.read(Memory(read_at), places)
