"""What a run could leave on a machine, as far as it can be seen from outside."""

import contextlib
import os
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.running.leftovers import (
    CGROUPS,
    bridge_of,
    cgroup_of,
    live_runs,
    run_of,
    runs_directory,
)

# Where a container engine, a kubelet and CNI write when nobody tells them otherwise.
FOLDERS = (
    "/etc/cni", "/etc/containerd", "/etc/kubernetes", "/opt/cni",
    "/run/containerd", "/run/netns", "/run/postgresql",
    "/var/lib/cni", "/var/lib/containerd", "/var/lib/kubelet", "/var/lib/containers",
    "/var/log/containers", "/var/log/pods",
)  # fmt: skip
SHARED_MEMORY = "PostgreSQL.*"
# A desktop makes and removes cgroups all day long: these are a kubelet's and ours.
OWN_CGROUPS = ("nemutator", "kubepods")
# Below it pytest gives each test a folder. What is mounted there is a test's, which may run beside this
# one: a run has its own directory.
TESTS_FOLDERS = "/pytest-of-"
SYSCTLS = (
    "net/ipv4/ip_forward",
    "net/ipv4/conf/all/route_localnet",
    "net/ipv6/conf/all/forwarding",
)
RULES = tuple(
    f"{family}-{kind}-save" for family in ("iptables", "ip6tables") for kind in ("nft", "legacy")
)
NOBODY_ASKED = "(no tool)"


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    began: int
    """Ticks since the machine was started: with the pid, one process and no later one."""
    name: str
    of_a_run: bool = False
    """It says so itself, or its cgroup does."""


@dataclass(frozen=True, slots=True)
class MachineState:
    """Facts by kind, and all processes."""

    facts: Mapping[str, frozenset[str]]
    processes: frozenset[Process]

    def added_since(self, before: "MachineState") -> list[str]:
        """What was not there *before*, in words; nothing else is looked at."""
        found = [
            f"{kind}: {fact}"
            for kind, facts in self.facts.items()
            for fact in sorted(facts - before.facts[kind])
        ]
        strays = strays_among(self.processes, before.processes, me=os.getpid())
        return found + [f"process: {one.pid} {one.name}" for one in strays]


def look(rules: Mapping[str, str] = os.environ) -> MachineState:
    """The machine as it is now, without the runs that go on beside this one.

    *rules* is the environment in which packet filters are asked.
    """
    others = Others([run.name for run in live_runs()])
    facts = {
        "mount": mounts(Path("/proc/self/mountinfo").read_text()),
        "interface": interfaces(Path("/sys/class/net")),
        "packet filter": _packet_filters(rules),
        "cgroup": _cgroups(),
        "file": _files(),
        "setting": [f"{name}={_text('/proc/sys', name)}" for name in SYSCTLS],
        "shared memory": _text("/proc/sysvipc/shm").splitlines()[1:],
    }
    return MachineState(
        facts={
            kind: frozenset(fact for fact in found if not others.own(fact))
            for kind, found in facts.items()
        },
        processes=frozenset(_processes(others)),
    )


@dataclass(frozen=True, slots=True)
class Others:
    """Runs that live: what carries their id is theirs."""

    ids: Collection[str]

    def own(self, fact: str) -> bool:
        return any(
            name(one) in fact for one in self.ids for name in (_directory_of, bridge_of, cgroup_of)
        )


def _directory_of(run_id: str) -> str:
    return str(runs_directory() / run_id)


def strays_among(now: Iterable[Process], before: Iterable[Process], *, me: int) -> list[Process]:
    """New processes that descend from this one or belong to a run; all others are other people's."""
    known = {(one.pid, one.began) for one in before}
    by_pid = {one.pid: one for one in now}

    def descends(one: Process) -> bool:
        seen = set[int]()
        while one.parent != me:
            seen.add(one.pid)
            above = by_pid.get(one.parent)
            if above is None or above.pid in seen:
                return False
            one = above
        return True

    return sorted(
        (
            one
            for one in by_pid.values()
            if (one.pid, one.began) not in known
            and one.pid != me
            and (one.of_a_run or descends(one))
        ),
        key=lambda one: one.pid,
    )


def _processes(others: Others) -> Iterator[Process]:
    with os.scandir("/proc") as entries:
        pids = [entry for entry in entries if entry.name.isdigit()]
    for entry in pids:
        with contextlib.suppress(OSError):
            if not Path(entry.path, "cmdline").read_bytes():
                continue  # the kernel's own, and what has ended
            folder = Path(entry.path)
            run, cgroup = run_of(folder), _text(entry.path, "cgroup")
            if (run is not None and run.name in others.ids) or others.own(cgroup):
                continue
            # A process may call itself by any bytes.
            stat = (folder / "stat").read_text(errors="replace")
            name, _, rest = stat.partition("(")[2].rpartition(")")
            fields = rest.split()
            of_a_run = run is not None or cgroup_of("") in cgroup
            yield Process(int(entry.name), int(fields[1]), int(fields[19]), name, of_a_run)


def mounts(mountinfo: str) -> Iterator[str]:
    """Without the number of the mount, which a remount changes."""
    for line in mountinfo.splitlines():
        fields = line.split()
        if TESTS_FOLDERS in fields[4]:
            continue
        yield f"{fields[4]} of {fields[3]} on {fields[2]}"


def interfaces(folder: Path) -> Iterator[str]:
    """With their bridge: a pod's has no id in its name, but that of its run's bridge has."""
    for interface in folder.iterdir():
        try:
            yield f"{interface.name} of {(interface / 'master').readlink().name}"
        except OSError:
            yield interface.name


def _cgroups() -> Iterator[str]:
    for folder, _, _ in os.walk(CGROUPS):
        if any(name in folder for name in OWN_CGROUPS):
            yield folder


def _files() -> Iterator[str]:
    yield from map(str, Path("/dev/shm").glob(SHARED_MEMORY))
    for folder in map(Path, FOLDERS):
        if folder.exists():
            yield str(folder)
            with contextlib.suppress(PermissionError):
                yield from map(str, folder.iterdir())


def _packet_filters(environment: Mapping[str, str]) -> Iterator[str]:
    for tool in RULES:
        for line in _asked(tool, environment):
            rule = line.partition(" [")[0]  # behind it are counters of packets
            if rule and not rule.startswith("#"):
                yield f"{tool}: {rule}"


def _asked(command: str, environment: Mapping[str, str]) -> list[str]:
    try:
        asked = subprocess.run(
            command.split(), capture_output=True, text=True, timeout=60, check=False,
            env=dict(environment),
        )  # fmt: skip
    except FileNotFoundError:
        return [NOBODY_ASKED]
    return asked.stdout.splitlines()


def _text(folder: str, name: str = "") -> str:
    try:
        return Path(folder, name).read_text(errors="replace").strip()
    except FileNotFoundError:
        return ""
