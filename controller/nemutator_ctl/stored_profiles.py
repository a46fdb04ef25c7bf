"""Profiles that the brain keeps of one workload, of all its replicas and times."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.profiles import pprof
from nemutator_common.profiles.model import Profile

from nemutator_ctl.answers import Listing, not_understood, understood
from nemutator_ctl.api import Api
from nemutator_ctl.terminal_text import visible

PATH = "/api/v1/profiles"

MOST = 500
"""As many as the brain lists at once."""

Measure = Literal["cpu", "heap", "off-cpu"]


@dataclass(frozen=True, slots=True)
class StoredProfile:
    # It becomes a part of a path that is asked for next.
    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9]+\Z")]
    state: str
    title: str
    workload: str
    measure: Measure


def stored(api: Api, workload: str, measure: Measure, *, path: str = PATH) -> list[StoredProfile]:
    """The profiles of *workload* that the brain of *api* lists under *path*, at least one."""
    listed = understood(
        api.get(path, {"limit": str(MOST)}), Listing[StoredProfile], "a list of profiles"
    )
    done = [one for one in listed.items if one.state == "done" and one.measure == measure]
    return chosen(done, workload)


def cpu_profile(api: Api, profile: StoredProfile, *, path: str = PATH) -> Profile:
    """What is in *profile*, which is one of CPU time."""
    try:
        return pprof.decode(api.content(f"{path}/{profile.id}/pprof"))
    except pprof.MalformedProfileError as error:
        raise not_understood(f"no profile in it: {error}") from error


def cpu_profiles(api: Api, workload: str, *, path: str = PATH) -> Iterator[Profile]:
    """All profiles of CPU time of *workload*, of which there is at least one."""
    for one in stored(api, workload, "cpu", path=path):
        yield cpu_profile(api, one, path=path)


def chosen(done: Sequence[StoredProfile], workload: str) -> list[StoredProfile]:
    """Those of *done* that are of *workload*, which may be named without its namespace."""
    found = [one for one in done if workload in (one.workload, one.workload.rpartition("/")[2])]
    names = sorted({one.workload for one in found})
    if workload in names:
        return [one for one in found if one.workload == workload]
    if len(names) == 1:
        return found
    shown = visible(workload, limit=100)
    if names:
        raise OperatorError(
            f"{shown} is the name of several workloads: {_named(names)}",
            remedy="name one of them with its namespace",
            code=ExitCode.USAGE,
        )
    there = sorted({one.workload for one in done if one.workload})
    raise OperatorError(
        f"no profile of a workload called {shown} is kept",
        remedy=f"there are profiles of {_named(there)}"
        if there
        else "make some with `nemutator profile`, or by the annotation of its pods",
        code=ExitCode.FAILED,
    )


def _named(names: Iterable[str]) -> str:
    return visible(", ".join(names), limit=300)
