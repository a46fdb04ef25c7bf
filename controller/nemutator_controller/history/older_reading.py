"""Reads history that is older than ours back from where remote write has sent it. An `OlderHistory`.

The page asks every few seconds for the same weeks, and a query over weeks is work for the one who answers: an answer
is kept for a while, a failure too, and few questions are asked at once.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.history.older import (
    OlderCells,
    OlderQuestion,
    expression,
    older_cells,
)
from nemutator_controller.history.ports import RangeQueries
from nemutator_controller.prometheus_answers import (
    PrometheusRefusedError,
    PrometheusUnavailableError,
)

AT_ONCE = 2
KEPT = 16
"""Answers: each has up to 1 500 steps of 30 values, 360 KB."""
KEPT_S = 300.0
FAILED_S = 30.0
DEADLINE_S = 12.0
"""With waiting for others. The page gives up after 20 s."""


class OlderUnavailableError(Exception):
    """Why nothing is known of what is older, for people; nothing in it is secret."""


@dataclass(slots=True)
class ReadingBack:
    source: RangeQueries
    process: Process
    external: Mapping[str, str] = field(default_factory=dict)
    """Labels of all series that remote write has sent."""
    deadline_s: float = DEADLINE_S
    _kept: dict[OlderQuestion, tuple[float, OlderCells | str]] = field(
        default_factory=dict, init=False
    )
    """Until when, and what was answered, or why nothing was."""
    _turns: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(AT_ONCE), init=False
    )

    async def cells(self, asked: OlderQuestion) -> OlderCells:
        until, found = self._kept.get(asked, (0.0, ""))
        if until <= self.process.clock.monotonic():
            found = await self._asked(asked)
        if isinstance(found, str):
            raise OlderUnavailableError(found)
        return found

    async def _asked(self, asked: OlderQuestion) -> OlderCells | str:
        found: OlderCells | str
        try:
            async with asyncio.timeout(self.deadline_s), self._turns:
                answer = await self.source.query_range(
                    expression(asked, external=self.external),
                    begin=asked.begin + asked.step_s,
                    end=asked.begin + asked.steps * asked.step_s,
                    step_s=asked.step_s,
                )
        except (PrometheusUnavailableError, PrometheusRefusedError) as error:
            found, result = str(error), "failed"
        except TimeoutError:
            found, result = f"Prometheus has not answered within {self.deadline_s:g} s", "late"
        else:
            found = older_cells(answer, asked)
            result = "warned" if found.warnings else "answered"
            for reason, number in found.dropped.items():
                self.process.meter.count(names.HISTORY_READ_BACK_DROPPED, number, reason=reason)
        self.process.meter.count(names.HISTORY_READ_BACK, result=result)
        # What lacks a part is soon asked for again, too.
        kept_s = KEPT_S if isinstance(found, OlderCells) and not found.warnings else FAILED_S
        self._kept.pop(asked, None)
        self._kept[asked] = (self.process.clock.monotonic() + kept_s, found)
        while len(self._kept) > KEPT:
            self._kept.pop(next(iter(self._kept)))
        return found
