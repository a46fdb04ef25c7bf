"""Questions to a Prometheus that is looked for among the cluster's Services, when the first question comes.

One that does not answer any more is looked for anew, as is any after ten minutes: a better one may have come.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from nemutator_common import names
from nemutator_common.clocks import Clock

from nemutator_controller.prometheus_answers import (
    PrometheusAnswer,
    PrometheusRefusedError,
    PrometheusUnavailableError,
)
from nemutator_controller.prometheus_services import (
    KNOWS,
    MOST_TRIED,
    FoundService,
    ServiceFacts,
    found_among,
)

log = logging.getLogger(__name__)

KEPT_S = 600.0
AGAIN_S = 60.0
"""Where none was found."""


class FoundQueries(Protocol):
    """Raises `PrometheusUnavailableError` and `PrometheusRefusedError`; there is always a deadline."""

    async def query(self, expression: str, *, at: float | None = None) -> PrometheusAnswer: ...

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer: ...


@dataclass(slots=True)
class PrometheusFinding:
    """Is asked as the one that it finds."""

    services: Callable[[], Iterable[ServiceFacts] | None]
    """Where one may be; None: they are not listed yet."""
    open: Callable[[FoundService], FoundQueries]
    clock: Clock
    chosen: FoundService | None = field(default=None, init=False)
    _queries: FoundQueries | None = field(default=None, init=False)
    _until: float = field(default=0.0, init=False)
    _why: str = field(default="", init=False)
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def query(self, expression: str, *, at: float | None = None) -> PrometheusAnswer:
        queries = await self._found()
        try:
            return await queries.query(expression, at=at)
        except PrometheusUnavailableError:
            self._until = 0.0
            raise

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer:
        queries = await self._found()
        try:
            return await queries.query_range(expression, begin=begin, end=end, step_s=step_s)
        except PrometheusUnavailableError:
            self._until = 0.0
            raise

    async def _found(self) -> FoundQueries:
        async with self._looking:
            if self.clock.monotonic() >= self._until:
                await self._search()
            if self._queries is None:
                raise PrometheusUnavailableError(self._why)
            return self._queries

    async def _search(self) -> None:
        services = self.services()
        if services is None:
            raise PrometheusUnavailableError("the cluster's Services are not listed yet")
        tried: list[str] = []
        for service in found_among(services)[:MOST_TRIED]:
            queries = self.open(service)
            if why := await _why_not(queries):
                tried.append(f"{service}: {why}")
                continue
            if service != self.chosen:
                log.info("prometheus_found", {names.OBJECT: str(service)})
            self.chosen, self._queries = service, queries
            self._until = self.clock.monotonic() + KEPT_S
            return
        self._why = "no Service is a Prometheus that knows containers" + (
            f" ({'; '.join(tried)})"[:500] if tried else ""
        )
        self.chosen = self._queries = None
        self._until = self.clock.monotonic() + AGAIN_S


async def _why_not(queries: FoundQueries) -> str:
    try:
        answer = await queries.query(KNOWS)
    except (PrometheusUnavailableError, PrometheusRefusedError) as error:
        return str(error)[:200]
    return "" if answer.series else "it knows no containers"
