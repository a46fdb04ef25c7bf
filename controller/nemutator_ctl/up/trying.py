"""What a new user is told to try: one command for each of the four jobs, as it can be copied."""

import dataclasses
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nemutator_ctl.terminal_text import visible
from nemutator_ctl.up import furniture


@dataclass(frozen=True, slots=True)
class Tries:
    """What there is to try so far."""

    secret: str | None = None
    mutation: str | None = None
    """Id of one that can be taken back; without one it is told how to make one."""
    pid: int | None = None
    """Of the sample, a Go program."""
    profiled: bool = False
    """Whether its flame graph is on the page."""
    problem: str | None = None
    """Why something of it is not there, with its remedy."""

    def of(self, pid: int) -> Self:
        return dataclasses.replace(self, pid=pid)

    def seen(self, pid: int) -> Self:
        return dataclasses.replace(self, pid=pid, profiled=True)

    def without(self, problem: str) -> Self:
        return dataclasses.replace(self, problem=problem)


@dataclass(frozen=True, slots=True)
class Places:
    """What the commands name of the data directory."""

    data_dir: Path
    socket: Path
    objects: Path


def told(tries: Tries, places: Places, *, program: str, named: bool) -> str:
    """The block of text; *named*: whether --data-dir is needed to mean this directory."""
    option = f" --data-dir {shlex.quote(str(places.data_dir))}" if named else ""
    lines = ["  Try"]
    if tries.secret is not None:
        where = shlex.quote(str(places.socket))
        url = f"http://nemutator/v1/secret/{tries.secret}"
        lines.append(f"    a secret     curl --silent --unix-socket {where} {url}")
    if tries.pid is not None:
        lines.append(f"    a profile    {program} profile{option} pid:{tries.pid} --seconds 10")
    lines.append(f"    advice       {program} advise{option}")
    if tries.mutation is not None:
        lines.append(f"    a rollback   {program} rollback{option} {shlex.quote(tries.mutation)}")
    elif tries.secret is not None:
        # All is put up: what there was has been taken back, or changed by somebody.
        policy = furniture.POLICY["metadata"]["name"]
        again = shlex.quote(str(places.objects / furniture.FILE))
        lines.append("    a rollback   nothing is left to take back; something is again after this")
        lines.append(f"                 one, while the policy `{policy}` is in mode Apply:")
        lines.append(f"                 {program} apply{option} {again}")
    if tries.profiled:
        lines.append("  Seen")
        lines.append("    the flame graph of the sample service `shop` is on the page: Profiles")
    if tries.problem is not None:
        lines.append("  Not shown")
        lines += [f"    {visible(line, limit=300)}" for line in tries.problem.splitlines()]
    return "\n".join([*lines, "", ""])
