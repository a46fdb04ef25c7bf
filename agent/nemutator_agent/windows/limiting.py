"""Keeps windows within their budget: measures what each look costs, and says when they stop and go on."""

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.windows import PAUSE_REPEATED_S, WindowPause

from nemutator_agent.windows.budget import Passed, WindowBudget, WindowKind
from nemutator_agent.windows.ports import Costs, WindowSink

log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class MeasuredWindow:
    """What one look costs."""

    costs: Costs
    _begun_s: float = field(init=False)
    _more_s: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._begun_s = self.costs.cpu_s()

    @property
    def spent_s(self) -> float:
        return max(self.costs.cpu_s() - self._begun_s + self._more_s, 0.0)

    def add(self, cpu_s: float) -> None:
        """CPU time that others take for it."""
        self._more_s += cpu_s

    @contextlib.contextmanager
    def unmeasured(self) -> Iterator[None]:
        """While it only waits: what the process does meanwhile is its other work."""
        before = self.costs.cpu_s()
        try:
            yield
        finally:
            self._more_s -= self.costs.cpu_s() - before


@dataclass(eq=False, slots=True)
class WindowLimit:
    budget: WindowBudget
    costs: Costs
    sink: WindowSink
    process: Process
    _: KW_ONLY
    node: str
    _stopped: dict[WindowKind, Passed] = field(default_factory=dict, init=False)
    _told_at: float = field(default=0.0, init=False)
    """When the brain was told last that they have stopped."""

    def allows(self, kind: WindowKind) -> bool:
        """Whether a look may begin now."""
        now, memory = self.process.clock.monotonic(), self.costs.memory_bytes()
        passed = self.budget.passed(kind, now=now, memory_bytes=memory)
        before = self._standing
        if passed != "memory":
            self._stopped = {one: why for one, why in self._stopped.items() if why != "memory"}
        self._stopped.pop(kind, None)
        if passed is not None:
            self._stopped[kind] = passed
        if self._standing != before:
            self._log(kind, self._standing, memory)
            self._tell(kind, self._standing or before, memory, paused=self._standing is not None)
        elif passed is not None and now - self._told_at >= PAUSE_REPEATED_S:
            self._tell(kind, passed, memory, paused=True)
        return passed is None

    @property
    def _standing(self) -> Passed | None:
        """Why any of the looks may not begin."""
        return next(iter(self._stopped.values()), None)

    @contextlib.contextmanager
    def measured(self, kind: WindowKind) -> Iterator[MeasuredWindow]:
        """A look, whatever becomes of it."""
        cost = MeasuredWindow(self.costs)
        try:
            yield cost
        finally:
            spent = cost.spent_s
            self.budget.spend(kind, spent)
            self.process.meter.count(names.WINDOW_CPU_SECONDS, spent)

    def _log(self, kind: WindowKind, passed: Passed | None, memory: int) -> None:
        if passed:
            why, _ = self._sentences(kind, passed, memory)
            log.warning("windows_stopped", {names.REASON: passed, names.ERROR: why})
        else:
            log.info("windows_go_on", {})
        for reason in ("cpu", "memory"):
            self.process.meter.gauge(names.WINDOWS_STOPPED, reason == passed, reason=reason)

    def _tell(self, kind: WindowKind, reason: Passed | None, memory: int, *, paused: bool) -> None:
        self._told_at = self.process.clock.monotonic()
        why, remedy = self._sentences(kind, reason if paused else None, memory)
        self.sink.put(
            WindowPause(
                node=self.node,
                at=self.process.clock.now(),
                paused=paused,
                reason=reason or "",
                why=why,
                remedy=remedy,
            )
        )

    def _sentences(self, kind: WindowKind, passed: Passed | None, memory: int) -> tuple[str, str]:
        budget = self.budget
        if passed == "cpu":
            left_s = max(budget.credit_s, 0.0)
            return (
                f"a look takes {budget.expected_s(kind):.2f} s of CPU time; {left_s:.2f} s are left of the budget",
                "windows go on by themselves; observe.window_cpu_percent sets the budget",
            )
        if passed == "memory":
            return (
                f"observe holds {memory >> 20} MiB, more than {budget.most_bytes >> 20} MiB",
                "windows go on when it holds less; observe.window_memory_bytes sets the budget",
            )
        return "", ""
