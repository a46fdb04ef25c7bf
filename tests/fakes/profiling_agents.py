"""An agent that takes requests for profiles from a real brain, and answers as it is told to."""

import io
import time
from dataclasses import replace
from typing import Any, Literal

import msgspec
from nemutator_common.wire import (
    PROFILE_REQUESTS_PATH,
    PROFILES_PATH,
    REPORTS_PATH,
    ProfileOutcome,
    ProfileRequest,
    ProfileRequests,
)

from tests.fakes.batches import batch
from tests.fakes.brains import StandingBrain
from tests.fakes.profiles import content

Json = dict[str, Any]


class FakeAgent:
    def __init__(self, brain: StandingBrain, node: str = "n1") -> None:
        self._brain = brain
        self.node = node

    async def appear(self) -> None:
        """Report once, so that the node is known."""
        body = msgspec.json.encode(batch((1,), node=self.node, at=time.time()))
        async with self._brain.local.post(REPORTS_PATH, data=body) as answer:
            assert answer.status == 200, await answer.text()

    async def requests(self, wait_s: float = 5.0) -> tuple[ProfileRequest, ...]:
        path = f"{PROFILE_REQUESTS_PATH}?node={self.node}&wait_s={wait_s}"
        async with self._brain.local.get(path) as answer:
            assert answer.status == 200, await answer.text()
            return msgspec.json.decode(await answer.read(), type=ProfileRequests).requests

    async def report(
        self, request: ProfileRequest, state: Literal["running", "done", "refused"], **more: object
    ) -> tuple[int, Json]:
        """What the brain answers: status and document."""
        outcome = ProfileOutcome(id=request.id, node=self.node, state=state)
        if state == "done":
            outcome = replace(
                outcome,
                pprof=content("main.work", "main.idle"),
                started_at=time.time(),
                seconds=1.0,
                hz=99,
                recorded=2,
                lost={"stack_map_full": 1},
                cpu_seconds=0.02,
                notes=("a note",),
            )
        return await self.send(replace(outcome, **more))  # type: ignore[arg-type]

    async def send(self, outcome: ProfileOutcome) -> tuple[int, Json]:
        return await self.send_bytes(msgspec.json.encode(outcome))

    async def send_bytes(self, body: bytes) -> tuple[int, Json]:
        async with self._brain.local.post(PROFILES_PATH, data=io.BytesIO(body)) as answer:
            return answer.status, await answer.json()
