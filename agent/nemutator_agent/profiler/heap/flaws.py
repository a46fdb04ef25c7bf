"""Why a process has no heap profile that can be read, for the person who asked for it."""

from nemutator_agent.inspection.failures import (
    FileSystemStuckError,
    HiddenFileError,
    KernelThreadError,
    ProcessGoneError,
    WorkerFailedError,
)
from nemutator_agent.profiler.heap.messages import MemoryAnswer, ProgramAnswer
from nemutator_agent.profiler.refusals import ProfileRefused, gone

_AGAIN = "ask again"
_CPU_INSTEAD = "profile its CPU time: only programs of Go 1.18 and newer keep a heap profile"


def of_program(answer: ProgramAnswer, name: str) -> ProfileRefused | None:
    what, remedy = {
        "": ("", ""),
        "not_go": (f"{name} is no Go program", _CPU_INSTEAD),
        "too_old": (
            f"{name} was built by {answer.version}, whose heap profile is not read",
            "build it with Go 1.18 or newer",
        ),
        "damaged": (f"the tables of Go in {name} are damaged", _CPU_INSTEAD),
        "too_much": (f"the tables of Go in {name} take too much effort to read", _CPU_INSTEAD),
    }[answer.flaw]
    return ProfileRefused("heap", what, remedy=remedy) if what else None


def of_version(name: str, why: str) -> ProfileRefused:
    return ProfileRefused(
        "heap",
        f"it is not known how {name} keeps its heap profile: {why}",
        remedy="build it with a release of Go from 1.18 on, and leave its build information in it",
    )


def of_memory(answer: MemoryAnswer, name: str, *, is_linked: bool) -> ProfileRefused | None:
    nothing = f"{name} records no allocations: "
    lost = f"the heap profile of {name} was not found in its memory"
    what, remedy = {
        "": ("", ""),
        "off": (
            nothing + "it has set runtime.MemProfileRate to 0",
            "leave the rate as it is",
        )
        if is_linked
        else (
            nothing + "nothing in it uses runtime.MemProfile, so Go's linker has turned them off",
            "import runtime/pprof and use it, or import net/http/pprof",
        ),
        "no_rate": (lost + ": how much it records is not known", "report this with its Go version"),
        "not_found": (lost, "report this with its Go version"),
        "forged": (
            f"the heap profile in the memory of {name} is none that Go makes: {answer.what}",
            "do not trust what this program says of itself",
        ),
        "torn": (f"the heap profile of {name} has changed whenever it was read", _AGAIN),
        "unreadable": (f"the memory of {name} could not be read where its heap profile is", _AGAIN),
        "too_much": (f"the heap profile of {name} takes too much to read", _CPU_INSTEAD),
    }[answer.flaw]
    return ProfileRefused("heap", what, remedy=remedy) if what else None


def of_failure(failure: Exception, name: str) -> ProfileRefused:
    if isinstance(failure, KernelThreadError):
        return ProfileRefused(
            "heap",
            f"{name} is a thread of the kernel, which has no heap",
            remedy="profile its CPU time",
        )
    if isinstance(failure, ProcessGoneError):
        return gone(name)
    if isinstance(failure, HiddenFileError):
        return ProfileRefused(
            "rights",
            f"the memory of {name} may not be read",
            remedy="run the agent as root, or with CAP_SYS_PTRACE; where sysctl"
            " kernel.yama.ptrace_scope is 3, nobody may",
        )
    if isinstance(failure, FileSystemStuckError):
        return ProfileRefused("heap", f"opening {name} takes too long", remedy=_AGAIN)
    reason = failure.reason if isinstance(failure, WorkerFailedError) else type(failure).__name__
    return ProfileRefused("heap", f"reading {name} failed ({reason})", remedy=_AGAIN)
