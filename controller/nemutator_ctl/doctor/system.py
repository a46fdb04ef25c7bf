"""What everything but profiles needs of the machine."""

from nemutator_agent.settings.observe import ObserveSettings
from nemutator_common import names
from nemutator_controller.settings.brain import BrainSettings

from nemutator_ctl.doctor import readings
from nemutator_ctl.doctor.checks import (
    DISTRUSTED,
    Check,
    CheckResult,
    limited,
    missing,
    ok,
    ok_if,
    unclear,
)
from nemutator_ctl.doctor.facts import DoctorFacts, Unread

_UNIFIED = "boot with systemd.unified_cgroup_hierarchy=1"

# Settings of observe and of the brain as they are by default, with what else they keep open or need.
_FILES = ObserveSettings().descriptors + 256
_DATABASE_BYTES = BrainSettings().database_bytes
_FULL_BYTES = 1 << 20


def _space(facts: DoctorFacts) -> CheckResult:
    space = facts.space
    elsewhere = "name a directory that this user can write, with free space, with --data-dir"
    if isinstance(space, Unread):
        return missing(space.reason, lost="`nemutator up` does not start", remedy=elsewhere)
    free = f"{space.free_bytes >> 20} MiB free"
    where = "" if space.exists else ", not made yet"
    found = f"{free}{where}: {space.path}"
    if space.read_only or not space.usable:
        why = "read-only" if space.read_only else "this user cannot use it"
        return missing(
            f"{why}: {space.path}", lost="`nemutator up` does not start", remedy=elsewhere
        )
    if space.free_bytes < _FULL_BYTES:
        return missing(found, lost="there is no room for a database", remedy=elsewhere)
    if space.free_bytes < _DATABASE_BYTES:
        return limited(
            found,
            lost="the database may grow to 256 MiB, and would fill the disk before",
            remedy="free some space, or set a smaller brain.database_bytes",
        )
    return ok(found)


def _pidfd(facts: DoctorFacts) -> CheckResult:
    if not isinstance(facts.pidfd, Unread):
        return ok("works")
    return missing(
        facts.pidfd.reason,
        lost="`nemutator up` cannot watch the processes that it starts",
        remedy="Linux 5.3 or newer; in a container, a seccomp profile that allows pidfd_open",
    )


def _callers(facts: DoctorFacts) -> CheckResult:
    if facts.peer_pidfd:
        return ok("named by the kernel")
    return ok("known by their numbers: one that has only just started has to connect twice")


def _processes(facts: DoctorFacts) -> CheckResult:
    mounts = _mounts(facts)
    if isinstance(facts.status, Unread) or (mounts is not None and not mounts.proc):
        found = facts.status.reason if isinstance(facts.status, Unread) else "not mounted"
        return missing(
            found, lost="nothing of this machine can be seen", remedy="mount proc at /proc"
        )
    if mounts is None:
        return unclear(facts.mountinfo, "whether /proc hides processes is not known")
    if mounts.hides_processes and facts.user != 0:
        return limited(
            "mounted with hidepid",
            lost="processes of other users are not in the topology",
            remedy=f"{names.AS_ROOT}, or mount /proc with gid= of a group that it is in",
        )
    return ok("mounted")


def _cgroups(facts: DoctorFacts) -> CheckResult:
    mounts = _mounts(facts)
    if mounts is None:
        return unclear(facts.mountinfo, "which control groups are mounted is not known")
    counted = mounts.legacy & {"cpuacct", "memory"}
    version = "hybrid" if mounts.unified and counted else "version 1" if counted else "version 2"
    if not mounts.unified and not counted:
        return missing(
            "none are mounted that count CPU or memory",
            lost="no workload's CPU and memory is known",
            remedy="mount cgroup2 at /sys/fs/cgroup",
        )
    if counted:
        gone = [
            name
            for name, controller in (("CPU", "cpuacct"), ("memory", "memory"))
            if controller not in counted
        ]
        also = f"; the {' and '.join(gone)} of workloads is not counted" if gone else ""
        lost = (
            "workloads have pressure only where they are in version 2 too"
            if mounts.unified
            else "workloads have no pressure"
        )
        return limited(
            f"{version}: {', '.join(sorted(counted))}", lost=lost + also, remedy=_UNIFIED
        )
    if isinstance(facts.controllers, Unread):
        return limited(
            f"{version}, controllers: {facts.controllers.reason}",
            lost="whether the memory of workloads is counted is not known",
            remedy="mount cgroup2 at /sys/fs/cgroup, readable",
        )
    words = facts.controllers.split()
    return ok_if(
        "memory" in words,
        f"{version}: {' '.join(words) or 'no controllers'}",
        lost="the memory of workloads is not counted",
        remedy="boot with cgroup_enable=memory, on a kernel with CONFIG_MEMCG",
    )


def _pressure(facts: DoctorFacts) -> CheckResult:
    if isinstance(facts.pressure, str) and facts.pressure.startswith("some "):
        return ok("counted")
    return limited(
        facts.pressure.reason if isinstance(facts.pressure, Unread) else DISTRUSTED,
        lost="how long the machine and its workloads wait for CPU, memory and disk",
        remedy="boot with psi=1, on Linux 4.20 or newer with CONFIG_PSI",
    )


def _open_files(facts: DoctorFacts) -> CheckResult:
    hard = facts.open_files
    return ok_if(
        hard is None or hard >= _FILES,
        "no limit" if hard is None else str(hard),
        lost="counters of some workloads, once there are more than it allows (six files for each)",
        remedy=f"raise the hard limit (ulimit -Hn, LimitNOFILE=) to {_FILES} or more",
    )


def _swap(facts: DoctorFacts) -> CheckResult:
    areas = None if isinstance(facts.swaps, Unread) else readings.swap_areas(facts.swaps)
    if areas == 0 or (isinstance(facts.swaps, Unread) and facts.swaps.absent):
        return ok("off")
    if areas is None:
        return unclear(facts.swaps, "whether memory is swapped out is not known")
    return limited(
        f"on: {areas} area" + ("s" if areas > 1 else ""),
        lost="memory of a workload leaves out what was swapped; and secrets could reach the disk",
        remedy="swapoff -a, as Kubernetes nodes have it; or encrypt the swap",
    )


def _mounts(facts: DoctorFacts) -> readings.MountTable | None:
    return None if isinstance(facts.mountinfo, Unread) else readings.mounts(facts.mountinfo)


CHECKS = (
    Check("data directory", "everything that is kept: history, sessions", _space),
    Check("pidfd", "`nemutator up` notices the end of its processes", _pidfd),
    Check("callers", "which process asks for a secret", _callers),
    Check("/proc", "processes in the topology", _processes),
    Check("control groups", "CPU and memory of each workload", _cgroups),
    Check("pressure (PSI)", "waiting for CPU, memory and disk", _pressure),
    Check("open file limit", "counters of many workloads", _open_files),
    Check("swap", "complete figures of memory", _swap),
)
