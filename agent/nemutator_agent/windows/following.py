"""Which processes of this machine windows look at, and why they leave the others alone."""

from collections import Counter
from dataclasses import KW_ONLY, dataclass

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_agent.windows.observed import SKIPPED, ObservedProcess, Skipped
from nemutator_agent.windows.ports import ChosenPods, ObservedProcesses


@dataclass(frozen=True, slots=True)
class FollowedProcesses:
    processes: ObservedProcesses
    pods: ChosenPods
    process: Process
    _: KW_ONLY
    age_s: float
    """Younger processes are left alone."""
    most: int
    """The most that are looked at; the oldest come first."""

    def now(self) -> list[ObservedProcess]:
        skipped: Counter[Skipped] = Counter()
        wanted: list[ObservedProcess] = []
        for one in sorted(self.processes.now(), key=lambda one: -one.age_s):
            if not one.is_go:
                skipped["not_go"] += 1
            elif one.age_s < self.age_s:
                skipped["young"] += 1
            elif not self.pods.allow(one):
                skipped["not_chosen"] += 1
            elif len(wanted) >= self.most:
                skipped["over_cap"] += 1
            else:
                wanted.append(one)
        for reason in SKIPPED:
            self.process.meter.gauge(names.WINDOW_PROCESSES, skipped[reason], state=reason)
        self.process.meter.gauge(names.WINDOW_PROCESSES, len(wanted), state="followed")
        return wanted
