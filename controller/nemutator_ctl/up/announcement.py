"""What `up` tells a person once everything stands."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nemutator_ctl.terminal_text import visible


@dataclass(frozen=True, slots=True)
class Standing:
    """One process, as it is now."""

    name: str
    pid: int | None
    note: str
    """What a person should know about how it runs; may be empty."""
    problem: str | None

    @property
    def state(self) -> str:
        if self.problem is not None:
            return f"not ready: {self.problem}"
        return ", ".join(filter(None, ("ready", self.note)))


@dataclass(frozen=True, slots=True)
class Unseen:
    """A fact that `observe` cannot get."""

    what: str
    why: str
    remedy: str


def announcement(
    *,
    version: str,
    program: str,  # how the person can type our name
    data_dir: Path,
    named: bool,  # whether --data-dir was needed to mean this directory
    processes: Sequence[Standing],
    unseen: Sequence[Unseen],
    link: str | None,
) -> str:
    """The block of text that `up` prints, with what somebody can do next."""
    option = f" --data-dir {shlex.quote(str(data_dir))}" if named else ""
    opening = (
        [f"  Open   {link}", f"         It works once; `{program} link{option}` prints another."]
        if link is not None
        else [f"  Open   `{program} link{option}` prints a link once the brain is ready."]
    )
    return "\n".join(
        [
            "",
            f"nemutator {version}, data in {visible(str(data_dir), limit=500)}",
            "",
            *(_process(standing) for standing in processes),
            "",
            *_unseen(unseen),
            *opening,
            f"  Look   {program} topology{option}",
            "  Stop   Ctrl-C stops everything.",
            "",
            "",
        ]
    )


def _process(standing: Standing) -> str:
    pid = f"pid {standing.pid}" if standing.pid is not None else ""
    return f"  {standing.name:<13}{pid:<14}{visible(standing.state, limit=200)}".rstrip()


def _unseen(facts: Sequence[Unseen]) -> Iterable[str]:
    if not facts:
        return
    yield "  observe cannot see:"
    for fact in facts:
        why, remedy = visible(fact.why, limit=200), visible(fact.remedy, limit=200)
        yield f"    {visible(fact.what, limit=100)}: {why}"
        yield f"      remedy: {remedy}"
    yield ""
