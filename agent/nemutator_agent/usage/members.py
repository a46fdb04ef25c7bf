"""What the processes of a group have together: open files, and time that they waited for a CPU."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.activity_files import parse_run_delay_ns
from nemutator_agent.usage.malformed import MalformedError

_NS_PER_S = 1_000_000_000

MOST_THREADS = 512
"""Of one group: above it, what they waited for is not known."""


@dataclass(frozen=True, slots=True)
class MemberCounters:
    at: float
    open_files: int | None
    delays_ns: Mapping[int, int] | None
    """By thread; None when there are too many, or the kernel does not say."""


@dataclass(eq=False, slots=True)
class MemberFiles:
    """How /proc is asked; each returns None when the process has ended or may not be read."""

    open_files: Callable[[int], int | None]
    threads: Callable[[int], Sequence[int] | None]
    schedstat: Callable[[int, int], bytes | None]

    def counters(
        self, members: Sequence[tuple[ProcessId, int]], at: float, *, delays: bool = True
    ) -> MemberCounters:
        """*members* are processes with the number of their threads, which are asked for *delays*."""
        files = [self.open_files(process.pid) for process, _ in members]
        return MemberCounters(
            at,
            # Half of a sum would look like few files. One that ended just now has none.
            sum(one for one in files if one is not None) if any(files) else None,
            self._delays(members) if delays else None,
        )

    def _delays(self, members: Sequence[tuple[ProcessId, int]]) -> Mapping[int, int] | None:
        if sum(threads for _, threads in members) > MOST_THREADS:
            return None
        delays: dict[int, int] = {}
        for process, _ in members:
            for thread in (self.threads(process.pid) or ())[: MOST_THREADS - len(delays)]:
                content = self.schedstat(process.pid, thread)
                if content is None:
                    continue
                try:
                    delays[thread] = parse_run_delay_ns(content)
                except MalformedError:
                    return None
        return delays or None


def run_delay_between(before: MemberCounters | None, after: MemberCounters) -> float | None:
    """Seconds per second that threads waited for a CPU.

    A thread that is new has waited within this time; what one waited that has ended is not known.
    """
    if before is None or before.delays_ns is None or after.delays_ns is None:
        return None
    if after.at <= before.at:
        return None
    waited_ns = sum(
        max(delay - before.delays_ns.get(thread, 0), 0) for thread, delay in after.delays_ns.items()
    )
    return round(waited_ns / _NS_PER_S / (after.at - before.at), 6)
