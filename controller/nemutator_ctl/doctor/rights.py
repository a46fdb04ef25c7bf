"""The capabilities of this process → what it loses for want of some. Each is named only here.

Those that profiles need are the agent's own: `profiler/requirements.py` refuses profiles by them.
"""

from collections.abc import Iterator

from nemutator_agent.profiler import requirements
from nemutator_common import names

from nemutator_ctl.doctor import readings
from nemutator_ctl.doctor.checks import Check, CheckResult, limited, number, ok, unclear
from nemutator_ctl.doctor.facts import DoctorFacts, Unread

# include/uapi/linux/capability.h
_FOR_RUNTIMES = {"CAP_SYS_PTRACE": 19, "CAP_DAC_READ_SEARCH": 2}
_FOR_KERNEL_NAMES = {"CAP_SYSLOG": 34}
_FOR_WORKERS = {"CAP_SETUID": 7, "CAP_SETGID": 6}
_FOR_ROOM = {"CAP_SYS_RESOURCE": 24}
_CONSIDERED = _FOR_RUNTIMES | requirements.RIGHTS | _FOR_KERNEL_NAMES | _FOR_ROOM

_SYS_ADMIN = {"CAP_SYS_ADMIN": 21}
"""Shown where it stands for others, and never asked for: it is nearly everything."""

_RUNTIMES = "runtime and version of processes of other users are guessed from their names"


def _rights(facts: DoctorFacts) -> CheckResult:
    held = None if isinstance(facts.status, Unread) else readings.capabilities(facts.status)
    if held is None:
        return unclear(facts.status, "which rights this process has is not known")
    shown = _CONSIDERED | (_SYS_ADMIN if _lacking(requirements.RIGHTS, held) else {})
    known = [name.removeprefix("CAP_") for name, bit in shown.items() if held >> bit & 1]
    who = "root" if facts.user == 0 else f"user {facts.user}"
    found = " ".join(known) or "none of those that count"
    if _contained(facts):
        return limited(
            f"{who} of a container's user namespace: {found}",
            lost=f"{_RUNTIMES}, beyond the container; and profiles",
            remedy="run observe in the user namespace of the machine",
        )
    losses = dict(_losses(facts, held))
    if not losses:
        return ok(f"{who}: {found}")
    lacking = [name for lacks in losses.values() for name in lacks]
    return limited(
        f"{who}: {found}",
        lost="; ".join(losses),
        remedy=f"give observe {' '.join(lacking)}" if facts.user == 0 else names.AS_ROOT,
    )


def _losses(facts: DoctorFacts, held: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is lost, and the rights that it is lost for want of."""
    if lacks := _lacking(_FOR_RUNTIMES, held):
        yield _RUNTIMES, lacks
    if lacks := requirements.lacking(held):
        yield "profiles", lacks
    if facts.user == 0 and (lacks := _lacking(_FOR_WORKERS, held)):
        yield "strangers' files: the worker that reads them must become another user", lacks
    if _kernel_names_need_a_right(facts) and (lacks := _lacking(_FOR_KERNEL_NAMES, held)):
        yield "names of kernel functions in profiles", lacks
    release = readings.release(facts.kernel)
    limited = release is not None and release < requirements.MEMORY_BY_CGROUP
    if limited and (lacks := _lacking(_FOR_ROOM, held)):
        yield "room for BPF maps in profiles: this kernel limits locked memory", lacks


def _lacking(rights: dict[str, int], held: int) -> tuple[str, ...]:
    return tuple(name for name, bit in rights.items() if not held >> bit & 1)


def _kernel_names_need_a_right(facts: DoctorFacts) -> bool:
    """kernel/ksyms_common.c, kallsyms_show_value(); from 2 on, no right helps."""
    hidden, _ = number(facts.kptr_restrict)
    paranoid, _ = number(facts.perf_event_paranoid)
    is_open = hidden == 0 and paranoid is not None and paranoid <= 1
    return hidden in (0, 1) and not is_open


def _contained(facts: DoctorFacts) -> bool:
    known = isinstance(facts.uid_map, str)
    return known and not readings.in_initial_namespace(str(facts.uid_map))


CHECK = Check("capabilities", "runtimes of others' processes; profiles", _rights)
