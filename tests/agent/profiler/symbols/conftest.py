import pytest

from tests.agent.profiler.symbols.symbol_world import World


@pytest.fixture
def world() -> World:
    return World()
