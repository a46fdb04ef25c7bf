"""Who takes remote write and answers queries: a fake, the real Prometheus and the real VictoriaMetrics, for one suite."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest

from tests.fakes.prometheus import FakePrometheus

ENGINES = (
    "fake",
    pytest.param("prometheus", marks=pytest.mark.e2e),
    pytest.param("victoria_metrics", marks=pytest.mark.e2e),
)
"""For the parameters of a fixture."""

REAL_ENGINES = tuple(one for one in ENGINES if one != "fake")


def nothing() -> None:
    """What was written is found at once."""


@dataclass(frozen=True, slots=True)
class RecordingEngine:
    url: str
    """Before `/api/v1`."""
    show_all: Callable[[], None] = nothing
    """To be called between a write and the query that has to find it."""


@contextlib.asynccontextmanager
async def engine(request: pytest.FixtureRequest) -> AsyncIterator[RecordingEngine]:
    """The one that the parameter of a fixture names."""
    if request.param == "fake":
        async with FakePrometheus().serving() as there:
            yield RecordingEngine(there.url)
    else:
        yield real_engine(request)


def real_engine(request: pytest.FixtureRequest) -> RecordingEngine:
    part = request.getfixturevalue(request.param)
    return RecordingEngine(part.url, getattr(part, "show_all", nothing))
