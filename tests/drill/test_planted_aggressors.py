"""Aggressors of a disk, of memory, of the network and of memory's bandwidth, planted among innocents on this machine, where the
kernel says who waits for what: who is found is held against who was planted, and how long victims' work takes beside it and
without it is told.

It needs root, and a mounted hierarchy of version 2, with controllers or, as in systemd's hybrid mode, without. The disk is the one
under the repository. Memory is that of a group with a limit, and the network one that nobody else sees.
"""

import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drill import programs_beside
from tests.drill.planted import Planting, address, found_and_over
from tests.drill.programs_beside import SPAN
from tests.house.tree import REPOSITORY

pytestmark = [
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes control groups"),
]

MIB = 1 << 20
WORKING_SET = 128 * MIB
LEFT_ALONE = "counts", "0.1", "counts.log"
LEAST_COST = 1.15
"""From which on whoever needs more CPU for the same work is a victim of grade 1."""


@pytest.fixture
def disk() -> Iterator[Path]:
    """A file of which nothing is in the page cache."""
    path = REPOSITORY / ".build" / "planted-disk"
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as out:
        for _ in range(SPAN >> 20):
            out.write(os.urandom(MIB))
        out.flush()
        os.fsync(out.fileno())
        os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    yield path
    path.unlink()


def device_of(path: Path) -> str:
    number = path.stat().st_dev
    return f"{os.major(number)}:{os.minor(number)}"


def test_who_reads_all_that_a_disk_gives(tmp_path: Path, disk: Path) -> None:
    assert mmap.PAGESIZE == programs_beside.PAGE
    planting = Planting(
        aggressor="floods",
        victims={"shop": "waits for a disk"},
        programs={
            "shop": ("reads", disk, 60, 0.2, "shop.log"),
            "floods": ("floods", disk, 18, "quiet"),
            "sips": ("reads", disk, 1, 2, "sips.log"),
            "still": ("reads", disk, 1, 20, "still.log"),
            "counts": LEFT_ALONE,
            "waits": ("counts", 5, "waits.log"),
        },
    )
    found_and_over(planting, tmp_path, device=device_of(disk))


def test_who_takes_the_memory_in_which_another_has_its_files(tmp_path: Path, disk: Path) -> None:
    planting = Planting(
        aggressor="fills",
        victims={"shop": "waits for memory"},
        programs={
            # Half of what is left to it while the other one is busy is missing at any time.
            "shop": ("visits", disk, WORKING_SET, 2_000, 0.05, "shop.log"),
            "fills": ("fills", 200 * MIB, 18, "quiet"),
            "keeps": ("visits", disk, MIB, 50, 0.2, "keeps.log"),
            "counts": LEFT_ALONE,
        },
        memory_bytes=330 * MIB,
    )
    found_and_over(planting, tmp_path, device=device_of(disk))


def test_who_pours_more_into_the_network_than_it_carries(tmp_path: Path) -> None:
    inside = ("shop", "pours", "chats", "hears", "sips", "counts")
    far = address("far", inside)
    planting = Planting(
        aggressor="pours",
        victims={"shop": "gets less of the network"},
        programs={
            "shop": ("replies", 7001, 1 << 16, 1),
            "pours": ("pours", far, 7000, 8, 0, 18, "quiet"),
            # Much, and in bursts of its own, but not through what is full.
            "chats": ("pours", address("hears", inside), 7000, 1, 0.01, 5, "never"),
            "hears": ("drains", 7000),
            "sips": ("replies", 7001, 1 << 10, 1),
            "counts": LEFT_ALONE,
        },
        far={
            "drain": ("drains", 7000),
            "asks": ("asks", address("shop", inside), 7001, 1 << 16, 10, 0.1, "asks.log"),
            "seldom": ("asks", address("sips", inside), 7001, 1 << 10, 1, 0.5, "seldom.log"),
        },
        link="240mbit",
    )
    found_and_over(planting, tmp_path, device=device_of(REPOSITORY))


WALK_COSTS = """\
import random, statistics, subprocess, sys, time
walked = [float(number) for number in range(int(sys.argv[1]))]
random.shuffle(walked)
def cost():
    took = []
    for _ in range(25):
        begun = time.process_time()
        sum(walked)
        took.append(time.process_time() - begun)
    return statistics.median(took)
def beside(words):
    with subprocess.Popen([sys.executable, *words], stdin=subprocess.DEVNULL) as other:
        time.sleep(1)
        found = cost()
        other.kill()
    return found
alone = cost()
streams = beside([sys.argv[2], "streams", sys.argv[3], "1", "never"])
spins = beside(["-c", "while True: pass"])
print(streams / alone, spins / alone)
"""

WALKED = 1_500_000
"""Objects of 24 bytes, in more than a cache of today."""


def test_who_copies_memory_that_no_cache_holds(tmp_path: Path) -> None:
    size = str(128 * MIB)
    words = [sys.executable, "-c", WALK_COSTS, str(WALKED), programs_beside.__file__, size]
    ran = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600)
    streams, spins = map(float, ran.stdout.split())
    said = f"{streams:.2f} times the CPU beside it, {spins:.2f} beside one that only counts"
    print(f"a walk through memory takes {said}; load {os.getloadavg()}")
    if streams < LEAST_COST:
        pytest.skip(f"nobody suffers from it on this machine: the same work takes {said}")
    inside = ("shop", "streams", "waits")
    planting = Planting(
        aggressor="streams",
        victims={"shop": "needs more CPU for the same work"},
        programs={
            "shop": ("replies", 7001, 20_000, WALKED),
            "streams": ("streams", size, 18, "quiet"),
            "waits": ("counts", 5, "waits.log"),
        },
        far={"asks": ("asks", address("shop", inside), 7001, 20_000, 1, 0.1, "asks.log")},
        link="1gbit",
    )
    found_and_over(planting, tmp_path, device=device_of(REPOSITORY))
