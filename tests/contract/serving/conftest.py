"""The contract holds on both event loops, and with and without the plain path."""

import asyncio
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.fakes.listeners import EVENT_LOOPS, Listener


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return EVENT_LOOPS


@pytest.fixture(autouse=True, params=[True, False], ids=["plain", "parsed"])
def _way(request: pytest.FixtureRequest) -> Iterator[None]:
    Listener.answers_plainly = request.param
    yield
    Listener.answers_plainly = True
