"""Units and containers beside each other on this machine, one of which is in others' way: groups, networks, and what is found.

A minute of neighbours takes six seconds.
"""

import contextlib
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import pytest

from tests.drill import programs_beside
from tests.e2e.standing import Person, Standing, standing
from tests.testbed.running.waiting import NotInTimeError, until

MINUTE_S = 6
FOUND_S = 1500
"""Twenty minutes have to be known, and chance ruled out; the more others do on the machine, the later."""
GROUP = "planted.slice"
WORD = "10.213.0."
"""Addresses in networks that nobody else sees."""

Words = Sequence[str | Path | int | float]


@dataclass(frozen=True)
class Planting:
    """Who runs beside whom. Units with a network of their own are containers, as Docker makes them."""

    aggressor: str
    victims: Mapping[str, str]
    """What is said of each."""
    programs: Mapping[str, Words]
    memory_bytes: int | None = None
    """That all of them have together."""
    far: Mapping[str, Words] = field(default_factory=dict)
    """What runs on the other side of the network, and is no neighbour."""
    link: str = ""
    """The bandwidth of what leads there, as tc has it; empty: no networks are made."""

    @property
    def timed(self) -> list[str]:
        """Who writes how long its work takes."""
        every = {**self.programs, **self.far}
        return [unit for unit, words in every.items() if str(words[-1]).endswith(".log")]


def group_of(unit: str, planting: Planting) -> str:
    """By which the brain knows it, too."""
    if not planting.link:
        return f"{unit}.service"
    return f"docker-{hashlib.sha256(unit.encode()).hexdigest()}.scope"


@dataclass
class Beside:
    up: Standing
    planting: Planting
    seen: dict[str, dict[str, set[str]]] = field(
        default_factory=lambda: {"aggressor": {}, "victim": {}}
    )
    """By role and unit, with the reasons that were given."""

    def look(self) -> bool:
        """Note who has a grade now; whether the aggressor and its victims have had one."""
        for unit, one in self.found().items():
            for role, units in self.seen.items():
                if one[role]["now"]:
                    units.setdefault(unit, set()).add(one[role]["why"])
        wanted = self.planting
        return wanted.aggressor in self.seen["aggressor"] and set(wanted.victims) <= set(
            self.seen["victim"]
        )

    def found(self) -> dict[str, dict[str, Any]]:
        """By unit, of those that are planted or innocent."""
        items = self.up.api("/api/v1/neighbours?limit=1000").document["items"]
        owners = {one["owner"]: one for one in items}
        known = {unit: group_of(unit, self.planting) for unit in self.planting.programs}
        return {unit: owners[owner] for unit, owner in known.items() if owner in owners}


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
def groups(planting: Planting, device: str) -> Iterator[Callable[[str], list[Path]]]:
    """A group for each unit below one of ours: its places."""
    tops = [where / GROUP for where in hierarchies()]
    if not any((top.parent / "cgroup.controllers").exists() for top in tops):
        pytest.skip("there is no hierarchy of version 2: nobody says who waits")
    names = {unit: group_of(unit, planting) for unit in planting.programs}
    try:
        for top in tops:
            top.mkdir()
            controllers = top.parent / "cgroup.controllers"
            if controllers.exists() and "memory" in controllers.read_text().split():
                (top / "cgroup.subtree_control").write_text("+memory +io +cpu")
            for name in names.values():
                (top / name).mkdir()
            for limit in ("memory.max", "memory.limit_in_bytes"):
                if planting.memory_bytes is not None and (top / limit).exists():
                    (top / limit).write_text(str(planting.memory_bytes))
            limit_of_disk = top / "blkio.throttle.read_bps_device"
            if limit_of_disk.exists():
                # Since Linux 6.10 version 1 counts no bytes of a disk before it has a limit; nobody reaches this one.
                limit_of_disk.write_text(f"{device} {1 << 40}")
        yield lambda unit: [top / names[unit] for top in tops]
    finally:
        for top in tops:
            for name in names.values():
                with contextlib.suppress(FileNotFoundError):
                    (top / name).rmdir()
            with contextlib.suppress(FileNotFoundError):
                top.rmdir()


@contextlib.contextmanager
def networks(planting: Planting) -> Iterator[Callable[[str], list[str]]]:
    """A network for each unit and for the far side, on one bridge that nobody else sees: how a program is started in it. All
    of it ends with the processes that hold it."""
    with contextlib.ExitStack() as held:
        if not planting.link:
            yield lambda unit: []
            return

        def holder() -> str:
            words = ["unshare", "--net", "sh", "-c", "echo; exec sleep infinity"]
            process = held.enter_context(subprocess.Popen(words, stdout=subprocess.PIPE))
            held.callback(process.kill)
            assert process.stdout is not None
            process.stdout.readline()
            return f"/proc/{process.pid}/ns/net"

        def within(network: str, *words: str) -> None:
            subprocess.run(["nsenter", f"--net={network}", *words], check=True)

        bridge = holder()
        within(bridge, "ip", "link", "add", "br0", "type", "bridge")
        within(bridge, "ip", "link", "set", "br0", "up")
        made = {unit: holder() for unit in ("far", *planting.programs)}
        for number, network in enumerate(made.values(), 1):
            pid, end = network.split("/")[2], f"v{number}"
            within(bridge, "ip", "link", "add", end, "type", "veth", "peer", "eth0", "netns", pid)
            within(bridge, "ip", "link", "set", end, "master", "br0", "up")
            within(network, "ip", "address", "add", f"{WORD}{number}/24", "dev", "eth0")
            within(network, "ip", "link", "set", "eth0", "up")
        shape = ["root", "tbf", "rate", planting.link, "burst", "256kb", "latency", "50ms"]
        within(bridge, "tc", "qdisc", "add", "dev", "v1", *shape)
        within(made["far"], "tc", "qdisc", "add", "dev", "eth0", *shape)
        yield lambda unit: ["nsenter", f"--net={made.get(unit, made['far'])}"]


def address(unit: str, programs: Sequence[str]) -> str:
    """Of one of *programs*, in their order, or of the far side."""
    return f"{WORD}{('far', *programs).index(unit) + 1}"


@contextlib.contextmanager
def running(
    planting: Planting,
    places: Callable[[str], list[Path]],
    network: Callable[[str], list[str]],
    folder: Path,
) -> Iterator[None]:
    started = []
    try:
        for unit, words in (*planting.programs.items(), *planting.far.items()):
            command = [*network(unit), sys.executable, programs_beside.__file__, *map(str, words)]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=folder)
            started.append(process)
            for place in places(unit) if unit in planting.programs else ():
                (place / "cgroup.procs").write_text(str(process.pid))
            # It begins once it is where it belongs.
            assert process.stdin is not None
            process.stdin.close()
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def found_and_over(planting: Planting, folder: Path, *, device: str) -> None:
    """Whoever is planted is found, and nobody else, and has no grade once it is quiet."""
    person = Person(
        environment={
            "NEMUTATOR_BRAIN_NEIGHBOUR_MINUTE_S": str(MINUTE_S),
            "NEMUTATOR_OBSERVE_SUMMARY_S": "3",
            "NEMUTATOR_OBSERVE_INTERVAL_S": "0.5",
        }
    )
    with (
        standing(folder, person=person) as up,
        groups(planting, device) as places,
        networks(planting) as network,
        running(planting, places, network, folder),
    ):
        beside, begun = Beside(up, planting), time.monotonic()
        try:
            until(beside.look, "who is planted and its victims have grades", within_s=FOUND_S)
        except NotInTimeError as late:
            said = up.run("neighbours").stdout
            raise AssertionError(f"{late}\n{beside.seen}\n{said}") from late
        print(f"found {time.monotonic() - begun:.0f} s after they began, load {os.getloadavg()}")
        print(up.run("neighbours").stdout)
        (folder / "quiet").touch()

        def is_over() -> bool:
            beside.look()
            return not any(one["aggressor"]["now"] for one in beside.found().values())

        until(is_over, "who is quiet has no grade of now", within_s=FOUND_S)
        for unit in planting.timed:
            latencies(folder / f"{unit}.log", folder / "quiet.bursts")
        for role, units in beside.seen.items():
            print(f"{role}s: {units}")
        assert beside.seen["aggressor"].keys() == {planting.aggressor}
        for unit, sentence in planting.victims.items():
            assert sentence in " ".join(beside.seen["victim"][unit])


def latencies(log: Path, bursts: Path) -> None:
    """What its work took in the bursts of the aggressor and between them, while others did the same; on a busy machine it
    says little."""
    burst = [tuple(map(float, line.split())) for line in bursts.read_text().splitlines()]
    took = [tuple(map(float, line.split())) for line in log.read_text().splitlines()]
    within = [ms for at, ms in took if any(begun < at <= end for begun, end in burst)]
    between = [ms for at, ms in took if not any(begun < at <= end for begun, end in burst)]
    said = [
        f"p50 {parts[49]:.1f} and p90 {parts[89]:.1f} ms of {len(several)} {when}"
        for several, when in ((within, "in its bursts"), (between, "between them"))
        for parts in [quantiles(several, n=100)]
    ]
    print(f"{log.stem}: {', '.join(said)}")
