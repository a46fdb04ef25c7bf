"""What `up` prints once everything is ready, or has had time to become so."""

import math
from asyncio import Event
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from nemutator_common.clocks import Clock

from nemutator_ctl.nodes import Fact
from nemutator_ctl.terminal_text import visible
from nemutator_ctl.up.child import PATIENCE_S, STEP_S, Child
from nemutator_ctl.up.command_lines import Typed

LATER_STEP_S = 1.0
"""Between two checks of what takes longer than it should."""


@dataclass(frozen=True, slots=True)
class ChildStatus:
    """One process, as it is now."""

    name: str
    pid: int | None
    note: str
    """What people should know about how it runs; may be empty."""
    problem: str | None

    @property
    def state(self) -> str:
        if self.problem is not None:
            return f"not ready: {self.problem}"
        return ", ".join(filter(None, ("ready", self.note)))


@dataclass(frozen=True, slots=True)
class StartAnnouncer:
    """Shows the children and the link once all are ready.

    When that takes longer than usual, it says once for what it waits, and shows the link soon
    after there is one. All of it is shown again when the page has *moved*, because the link that
    was shown before no longer works.
    """

    children: Sequence[Child]
    moved: Event
    clock: Clock
    link: Callable[[], Awaitable[str | None]]
    """A link that opens the console once; None while the brain gives none."""
    missing: Callable[[], Awaitable[Sequence[Fact] | None]]
    """What `observe` cannot see; None while it has not reported."""
    say_waiting: Callable[[Sequence[ChildStatus]], None]
    say: Callable[[Sequence[ChildStatus], Sequence[Fact], str | None], None]

    async def run(self) -> None:
        while True:
            missing = await self._all_ready(within_s=PATIENCE_S, step_s=STEP_S)
            if missing is None:
                link = await self.link()
                if link is None:
                    self.say_waiting(self._statuses())
                    while (link := await self.link()) is None:
                        await self.clock.sleep(LATER_STEP_S)
                    missing = await self._all_ready(within_s=PATIENCE_S, step_s=LATER_STEP_S)
                if missing is None:
                    self.say(self._statuses(), (), link)
                    missing = await self._all_ready(within_s=math.inf, step_s=LATER_STEP_S)
            self.say(self._statuses(), missing or (), await self.link())
            await self.moved.wait()
            self.moved.clear()

    async def _all_ready(self, *, within_s: float, step_s: float) -> Sequence[Fact] | None:
        """Wait until all are ready and one report is there, for what that cannot contain."""
        deadline = self.clock.monotonic() + within_s
        while self.clock.monotonic() < deadline:
            if all(child.problem is None for child in self.children):
                missing = await self.missing()
                if missing is not None:
                    return missing
            await self.clock.sleep(step_s)
        return None

    def _statuses(self) -> Sequence[ChildStatus]:
        return [ChildStatus(c.name, c.pid, c.note, c.problem) for c in self.children]


def waiting(children: Sequence[ChildStatus]) -> str:
    """What `up` prints, once, when a start takes longer than usual."""
    awaited = [child for child in children if child.problem is not None]
    return "\n".join(
        [
            "",
            "nemutator still waits, as a slow machine may need minutes for its start:",
            *(map(_child, awaited) if awaited else ["  observe has not reported yet"]),
            "",
            "",
        ]
    )


def announcement(
    typed: Typed,
    *,
    version: str,
    children: Sequence[ChildStatus],
    missing: Sequence[Fact],
    link: str | None,
) -> str:
    """The block of text that `up` prints, with what somebody can do next."""
    another = f"`{typed.command('link')}`"
    opening = (
        [f"  Open   {link}", f"         It works once; {another} prints another."]
        if link is not None
        else [f"  Open   {another} prints a link once the brain is ready."]
    )
    return "\n".join(
        [
            "",
            f"nemutator {version}, data in {visible(str(typed.data_dir), limit=500)}",
            "",
            *map(_child, children),
            "",
            *_missing(missing),
            *opening,
            f"  Look   {typed.command('topology')}",
            "  Stop   Ctrl-C stops everything.",
            "",
            "",
        ]
    )


def _child(status: ChildStatus) -> str:
    pid = f"pid {status.pid}" if status.pid is not None else ""
    return f"  {status.name:<13}{pid:<14}{visible(status.state, limit=200)}".rstrip()


def _missing(facts: Sequence[Fact]) -> Iterable[str]:
    if not facts:
        return
    yield "  observe cannot see:"
    for fact in facts:
        why, remedy = visible(fact.why, limit=200), visible(fact.remedy, limit=200)
        yield f"    {visible(fact.what, limit=100)}: {why}"
        yield f"      remedy: {remedy}"
    yield ""
