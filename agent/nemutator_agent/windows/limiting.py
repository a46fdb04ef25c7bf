"""Keeps windows within their budget: measures what each look costs, and says when they stop and go on."""

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.windows import WindowPause

from nemutator_agent.windows.budget import Passed, WindowBudget
from nemutator_agent.windows.ports import Costs, WindowSink

log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class WindowLimit:
    budget: WindowBudget
    costs: Costs
    sink: WindowSink
    process: Process
    _: KW_ONLY
    node: str
    _stopped: Passed | None = field(default=None, init=False)

    def allows(self) -> bool:
        """Whether a look may begin now."""
        now, memory = self.process.clock.monotonic(), self.costs.memory_bytes()
        passed = self.budget.passed(now=now, memory_bytes=memory)
        if passed != self._stopped:
            self._stopped = passed
            self._say(passed, memory)
        return passed is None

    @contextlib.contextmanager
    def measured(self) -> Iterator[None]:
        """A look, whatever becomes of it."""
        before = self.costs.cpu_s()
        try:
            yield
        finally:
            spent = max(self.costs.cpu_s() - before, 0.0)
            self.budget.spend(spent)
            self.process.meter.count(names.WINDOW_CPU_SECONDS, spent)

    def _say(self, passed: Passed | None, memory: int) -> None:
        why, remedy = self._sentences(passed, memory)
        if passed:
            log.warning("windows_stopped", {names.REASON: passed, names.ERROR: why})
        else:
            log.info("windows_go_on", {})
        for reason in ("cpu", "memory"):
            self.process.meter.gauge(names.WINDOWS_STOPPED, reason == passed, reason=reason)
        self.sink.put(
            WindowPause(
                node=self.node,
                at=self.process.clock.now(),
                paused=passed is not None,
                reason=passed or "",
                why=why,
                remedy=remedy,
            )
        )

    def _sentences(self, passed: Passed | None, memory: int) -> tuple[str, str]:
        budget = self.budget
        if passed == "cpu":
            left_s = max(budget.credit_s, 0.0)
            return (
                f"a look takes {budget.expected_s:.2f} s of CPU time; {left_s:.2f} s are left of the budget",
                "windows go on by themselves; observe.window_cpu_percent sets the budget",
            )
        if passed == "memory":
            return (
                f"observe holds {memory >> 20} MiB, more than {budget.most_bytes >> 20} MiB",
                "windows go on when it holds less; observe.window_memory_bytes sets the budget",
            )
        return "", ""
