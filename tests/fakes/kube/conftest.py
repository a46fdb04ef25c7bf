from collections.abc import AsyncIterator

import pytest

from tests.fakes.kube.conversation import Conversation
from tests.fakes.kube.server import FakeKube


@pytest.fixture
async def kube() -> AsyncIterator[FakeKube]:
    async with FakeKube() as kube:
        yield kube


@pytest.fixture
async def api(kube: FakeKube) -> AsyncIterator[Conversation]:
    async with Conversation(kube) as api:
        yield api
