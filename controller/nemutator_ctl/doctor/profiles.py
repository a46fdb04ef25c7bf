"""What profiles need besides rights. None of it is ever *missing*: all the rest works without them.

Where the agent itself refuses profiles, its own judgement is asked for: `profiler/requirements.py`.
"""

from collections.abc import Callable

from nemutator_agent.profiler import requirements
from nemutator_agent.profiler.requirements import Requirement, SamplerFacts

from nemutator_ctl.doctor import readings
from nemutator_ctl.doctor.checks import Check, CheckResult, limited, number, ok, ok_if, unclear
from nemutator_ctl.doctor.facts import DoctorFacts, Unread

_PROFILES = "profiles"
_HEAP = "heap profiles"
_HZ = 99


def _as_the_agent(requirement: Requirement) -> Callable[[DoctorFacts], CheckResult]:
    """Judges as the agent does when a profile is asked for."""

    def judge(facts: DoctorFacts) -> CheckResult:
        if isinstance(facts.pid_namespace, Unread):
            return unclear(facts.pid_namespace, f"whether {_PROFILES} can be made is not known")
        asked = _sampler(facts, facts.pid_namespace)
        refused = requirements.obstacles(asked).get(requirement)
        found = _FOUND[requirement](facts)
        if refused is None:
            return ok(found)
        return limited(found, lost=f"{_PROFILES}: {refused.what}", remedy=refused.remedy)

    return judge


def _sampler(facts: DoctorFacts, pid_namespace: int) -> SamplerFacts:
    return SamplerFacts(
        release=facts.kernel,
        processor=facts.processor,
        btf=facts.btf is True,
        bcc=facts.bcc,
        headers=facts.kernel_headers,
        # `rights.py` judges these two.
        capabilities=0,
        locked_bytes=-1,
        pid_namespace=pid_namespace,
    )


def _engine(facts: DoctorFacts) -> CheckResult:
    """Which one samples unless `observe.sampling_engine` says other. Without BTF and bcc, none does."""
    found = _sampler(facts, requirements.INITIAL_PID_NAMESPACE)
    if requirements.engine(found) == "bcc":
        return ok("bcc, because the kernel has no BTF: it compiles with the kernel's headers")
    if found.btf:
        return ok("libbpf, because the kernel has BTF")
    lacks = " and ".join(
        what
        for what, there in {"python3-bpfcc": found.bcc, "kernel headers": found.headers}.items()
        if not there
    )
    return limited(
        f"none: no BTF for libbpf, and no {lacks} for bcc",
        lost=_PROFILES,
        remedy=f"a kernel with CONFIG_DEBUG_INFO_BTF=y, or {requirements.BCC_REMEDY}",
    )


def _btf_found(facts: DoctorFacts) -> str:
    if isinstance(facts.btf, Unread):
        return facts.btf.reason
    return "/sys/kernel/btf/vmlinux" if facts.btf else "empty"


def _processor_found(facts: DoctorFacts) -> str:
    if facts.processor != "aarch64":
        return facts.processor
    # It keeps its return address in a register, which the kernel does not follow.
    return f"{facts.processor}: a C function that calls no other hides its caller from {_PROFILES}"


_FOUND: dict[Requirement, Callable[[DoctorFacts], str]] = {
    "kernel": lambda facts: facts.kernel or "it has no name",
    "processor": _processor_found,
    "btf": _btf_found,
    "pid_namespace": lambda facts: f"number {facts.pid_namespace}",
}


def _libbpf(facts: DoctorFacts) -> CheckResult:
    if isinstance(facts.libbpf, str):
        return ok(facts.libbpf)
    return limited(
        facts.libbpf.reason,
        lost=f"{_PROFILES}: it loads their programs",
        remedy="install libbpf.so.1 (Debian and Ubuntu: libbpf1; Fedora and RHEL 9: libbpf)",
    )


def _perf_events(facts: DoctorFacts) -> CheckResult:
    value, text = number(facts.perf_event_paranoid)
    if value is not None:
        # It binds nobody who has the rights, and without them the agent does not even try.
        return ok(f"perf_event_paranoid {text}")
    return limited(
        text,
        lost=f"{_PROFILES}: the kernel may have no perf events",
        remedy="a kernel with CONFIG_PERF_EVENTS; in a container, /proc/sys readable",
    )


def _sample_rate(facts: DoctorFacts) -> CheckResult:
    value, text = number(facts.perf_event_max_sample_rate)
    if value is not None and value >= _HZ:
        return ok(f"{text} Hz")
    return limited(
        text,
        lost=f"{_PROFILES} of {_HZ} Hz",
        remedy="sysctl kernel.perf_event_max_sample_rate=100000; the kernel lowers it by itself "
        "when samples take too long",
    )


def _kernel_names(facts: DoctorFacts) -> CheckResult:
    """kernel/ksyms_common.c, kallsyms_show_value(): up to 1 a right shows them, see `rights.py`."""
    value, text = number(facts.kptr_restrict)
    return ok_if(
        value is not None and value <= 1,
        text,
        lost=f"names of kernel functions in {_PROFILES}",
        remedy="sysctl kernel.kptr_restrict=1",
    )


def _ptrace(facts: DoctorFacts) -> CheckResult:
    """Documentation/admin-guide/LSM/Yama.rst: up to 2 a right suffices, see `rights.py`.

    Reading /proc/PID/exe is not an attachment.
    """
    if isinstance(facts.ptrace_scope, Unread) and facts.ptrace_scope.absent:
        return ok("not there: Yama restricts nothing")
    value, text = number(facts.ptrace_scope)
    return ok_if(
        value is not None and value <= 2,
        text,
        lost=f"{_HEAP}: the memory of no process may be read",
        remedy="set kernel.yama.ptrace_scope=1 in sysctl.d and boot: 3 stays until then",
    )


def _seccomp(facts: DoctorFacts) -> CheckResult:
    """Without it a worker does not start: strangers' files are not read with more rights instead."""
    known = isinstance(facts.seccomp, str) and "errno" in facts.seccomp.split()
    return ok_if(
        known,
        "filters system calls" if known else "its filters are not there",
        lost=f"names in {_PROFILES}, {_HEAP}, and runtimes that only a file's content shows",
        remedy="a kernel with CONFIG_SECCOMP_FILTER; in a container, /proc/sys readable",
    )


def _lockdown(facts: DoctorFacts) -> CheckResult:
    if isinstance(facts.lockdown, Unread) and facts.lockdown.absent:
        return ok("not there: nothing is locked, or securityfs is not mounted")
    mode = None if isinstance(facts.lockdown, Unread) else readings.chosen(facts.lockdown)
    if mode in ("none", "integrity"):
        return ok(mode)
    if mode is None:
        return unclear(facts.lockdown, f"whether {_PROFILES} may read the kernel is not known")
    return limited(
        mode,
        lost=f"{_PROFILES}: BPF programs may not read the kernel's memory",
        remedy="boot with lockdown=integrity",
    )


CHECKS = (
    Check("kernel", _PROFILES, _as_the_agent("kernel")),
    Check("processor", _PROFILES, _as_the_agent("processor")),
    Check("BTF", _PROFILES, _as_the_agent("btf")),
    Check("sampling engine", _PROFILES, _engine),
    Check("libbpf", _PROFILES, _libbpf),
    Check("pid namespace", _PROFILES, _as_the_agent("pid_namespace")),
    Check("perf events", _PROFILES, _perf_events),
    Check("perf_event_max_sample_rate", _PROFILES, _sample_rate),
    Check("kptr_restrict", f"kernel functions in {_PROFILES}", _kernel_names),
    Check("Yama ptrace_scope", _HEAP, _ptrace),
    Check("seccomp", "confined workers read strangers' files", _seccomp),
    Check("kernel lockdown", _PROFILES, _lockdown),
)
