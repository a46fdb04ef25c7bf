"""What is typed after `nemutator pgo`: names of workloads, and files of CPU profiles."""

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Profile
from nemutator_common.profiles.sums import AnyProfile

ENDS = (".gz", ".pb", ".pprof", ".pgo", ".prof")


def is_file(source: str) -> bool:
    """A name with the end of a file, or a path; names of workloads have at most a namespace."""
    return source.endswith(ENDS) or source.startswith((".", "/")) or source.count("/") > 1


def cpu_profile(source: str, profile: AnyProfile) -> Profile:
    """*profile* as one of CPU time, or an `OperatorError`."""
    if isinstance(profile, Profile):
        return profile
    kind = "the heap" if isinstance(profile, HeapProfile) else "something else"
    raise OperatorError(
        f"{source}: a profile of {kind}; the compiler reads profiles of CPU time alone",
        remedy="name one that `nemutator profile` made without --heap or --off-cpu, or runtime/pprof's of the CPU",
        code=ExitCode.USAGE,
    )
