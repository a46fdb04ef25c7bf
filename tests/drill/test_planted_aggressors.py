"""An aggressor of the disk, planted among innocents on this machine, where the kernel says who waits for what: who is
found is held against who was planted, and how long victims' work takes beside it and without it is told.

It needs root, and a mounted hierarchy of version 2, with controllers or, as in systemd's hybrid mode, without. The disk is the one
under the repository, all of whose throughput is used in bursts. A minute takes six seconds.
"""

import contextlib
import mmap
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import pytest

from tests.drill import programs_beside
from tests.e2e.standing import Person, Standing, standing
from tests.house.tree import REPOSITORY
from tests.testbed.running.waiting import NotInTimeError, until

pytestmark = [
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes control groups"),
]

MINUTE_S = 6
FOUND_S = 1500
"""Twenty minutes have to be known, and chance ruled out; the more others do on the machine, the later."""
GROUP = "planted.slice"
DISK_BYTES = 256 << 20

AGGRESSORS = {"floods"}
VICTIMS = {"shop": "waits for a disk"}
INNOCENT = ("sips", "still", "counts", "waits")
ALL = {*AGGRESSORS, *VICTIMS, *INNOCENT}
SETTLED_S = 20.0


@dataclass
class Beside:
    up: Standing
    folder: Path
    seen: dict[str, dict[str, set[str]]] = field(
        default_factory=lambda: {"aggressor": {}, "victim": {}}
    )
    """By role and unit, with the reasons that were given."""

    def look(self) -> bool:
        """Note who has a grade now; whether the aggressor and its victim have had one."""
        for unit, one in self.found().items():
            for role, units in self.seen.items():
                if one[role]["now"]:
                    units.setdefault(unit, set()).add(one[role]["why"])
        return self.seen["aggressor"].keys() >= AGGRESSORS and set(VICTIMS) <= set(
            self.seen["victim"]
        )

    def found(self) -> dict[str, dict[str, Any]]:
        """By unit, of those that are planted or innocent."""
        items = self.up.api("/api/v1/neighbours?limit=1000").document["items"]
        units = {one["owner"].removesuffix(".service"): one for one in items}
        return {unit: one for unit, one in units.items() if unit in ALL}

    def took_ms(self, unit: str) -> list[tuple[float, float]]:
        lines = (self.folder / f"{unit}.log").read_text().splitlines()
        return [(float(at), float(ms)) for at, ms in (line.split() for line in lines)]


def hierarchies() -> list[Path]:
    """Where groups are made, each by the same path, as systemd does it."""
    wanted = {"memory", "blkio", "cpu", "cpuacct"}
    found = []
    for line in Path("/proc/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup2" or (kind == "cgroup" and wanted & set(options.split(","))):
            found.append(Path(where))
    return found


@contextlib.contextmanager
def groups(device: str) -> Iterator[list[Path]]:
    """A group for each unit below one of ours."""
    tops = [where / GROUP for where in hierarchies()]
    if not any((top.parent / "cgroup.controllers").exists() for top in tops):
        pytest.skip("there is no hierarchy of version 2: nobody says who waits")
    try:
        for top in tops:
            top.mkdir()
            controllers = top.parent / "cgroup.controllers"
            if controllers.exists() and "memory" in controllers.read_text().split():
                (top / "cgroup.subtree_control").write_text("+memory +io +cpu")
            for unit in ALL:
                (top / f"{unit}.service").mkdir()
            limit_of_disk = top / "blkio.throttle.read_bps_device"
            if limit_of_disk.exists():
                # Since Linux 6.10 version 1 counts no bytes of a disk before it has a limit; nobody reaches this one.
                limit_of_disk.write_text(f"{device} {1 << 40}")
        yield tops
    finally:
        for top in tops:
            for unit in ALL:
                with contextlib.suppress(FileNotFoundError):
                    (top / f"{unit}.service").rmdir()
            with contextlib.suppress(FileNotFoundError):
                top.rmdir()


@contextlib.contextmanager
def planted(tops: list[Path], folder: Path, disk: Path) -> Iterator[None]:
    def log(unit: str) -> str:
        return str(folder / f"{unit}.log")

    quiet = str(folder / "quiet")
    words = {
        "shop": ("reads", disk, "60", "0.2", log("shop")),
        "floods": ("floods", disk, "18", quiet),
        "sips": ("reads", disk, "1", "2", log("sips")),
        "still": ("reads", disk, "1", "20", log("still")),
        "counts": ("counts", "0.1", log("counts")),
        "waits": ("counts", "5", log("waits")),
    }
    running = []
    try:
        for unit, given in words.items():
            command = [sys.executable, programs_beside.__file__, *map(str, given)]
            process = subprocess.Popen(command, stdin=subprocess.PIPE)
            running.append(process)
            for top in tops:
                (top / f"{unit}.service" / "cgroup.procs").write_text(str(process.pid))
            # It begins once it is where it belongs.
            assert process.stdin is not None
            process.stdin.close()
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def device_of(path: Path) -> str:
    number = path.stat().st_dev
    return f"{os.major(number)}:{os.minor(number)}"


@pytest.fixture
def disk() -> Iterator[Path]:
    """A file of which nothing is in the page cache."""
    path = REPOSITORY / ".build" / "planted-disk"
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as out:
        for _ in range(DISK_BYTES >> 20):
            out.write(os.urandom(1 << 20))
        out.flush()
        os.fsync(out.fileno())
        os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    yield path
    path.unlink()


def test_who_was_planted_is_found_and_has_no_grade_once_it_is_quiet(
    tmp_path: Path, disk: Path
) -> None:
    person = Person(
        environment={
            "NEMUTATOR_BRAIN_NEIGHBOUR_MINUTE_S": str(MINUTE_S),
            "NEMUTATOR_OBSERVE_SUMMARY_S": "3",
            "NEMUTATOR_OBSERVE_INTERVAL_S": "0.5",
        }
    )
    assert mmap.PAGESIZE == programs_beside.PAGE
    with (
        standing(tmp_path, person=person) as up,
        groups(device_of(disk)) as tops,
        planted(tops, tmp_path, disk),
    ):
        beside, begun = Beside(up, tmp_path), time.monotonic()
        try:
            until(beside.look, "who is planted and its victim have grades", within_s=FOUND_S)
        except NotInTimeError as late:
            said = up.run("neighbours").stdout
            raise AssertionError(f"{late}\n{beside.seen}\n{said}") from late
        print(f"found {time.monotonic() - begun:.0f} s after they began")
        print(up.run("neighbours").stdout)
        quiet_at = time.time()
        (tmp_path / "quiet").touch()

        def is_over() -> bool:
            beside.look()
            return not any(one["aggressor"]["now"] for one in beside.found().values())

        until(is_over, "who is quiet has no grade of now", within_s=FOUND_S)
        for unit in (*VICTIMS, "sips", "counts"):
            latencies(beside, unit, quiet_at)
        for role, units in beside.seen.items():
            print(f"{role}s: {units}")
        assert beside.seen["aggressor"].keys() == AGGRESSORS
        for unit, sentence in VICTIMS.items():
            assert sentence in " ".join(beside.seen["victim"][unit])


def latencies(beside: Beside, unit: str, quiet_at: float) -> None:
    """What its work took; on a busy machine it says little."""
    took = beside.took_ms(unit)
    before = [ms for at, ms in took if at <= quiet_at]
    after = [ms for at, ms in took if at > quiet_at + SETTLED_S]
    p50, p90 = (quantiles(before, n=100)[part] for part in (49, 89))
    later50, later90 = (quantiles(after, n=100)[part] for part in (49, 89))
    print(
        f"{unit}: p50 {p50:.1f} and p90 {p90:.1f} ms of {len(before)} beside them,"
        f" {later50:.1f} and {later90:.1f} ms of {len(after)} once they are quiet"
    )
