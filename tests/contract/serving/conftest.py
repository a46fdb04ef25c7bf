"""The contract holds on both event loops."""

import asyncio
from collections.abc import Callable, Mapping

import pytest

from tests.fakes.listeners import EVENT_LOOPS


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return EVENT_LOOPS
