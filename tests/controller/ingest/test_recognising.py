import pytest
from nemutator_common import names
from nemutator_controller.ingest.bearers import Accounts
from nemutator_controller.ingest.callers import Caller, CallersUnknownError
from nemutator_controller.ingest.recognising import FRESH_S, KEPT_S, ReviewedCallers
from nemutator_controller.kube.failures import UnavailableError

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.reviews import MemoryReviews

AGENT = "system:serviceaccount:nemutator:nemutator-agent"
GOOD = "Bearer e30.agent.sig"


class Door:
    def __init__(self) -> None:
        self.reviews, self.clock, self.meter = MemoryReviews(), ManualClock(), MemoryMeter()
        self.reviews.knows("e30.agent.sig", AGENT, node="n1")
        self.callers = ReviewedCallers(
            self.reviews, Accounts(AGENT, "other"), clock=self.clock, meter=self.meter
        )

    def counted(self, result: str) -> float:
        return self.meter.value(names.CALLERS, result=result)


async def test_a_verdict_is_asked_for_once_in_a_minute_good_or_bad() -> None:
    door = Door()
    for _ in range(3):
        assert await door.callers.recognise(GOOD) == Caller("n1")
        assert await door.callers.recognise("Bearer e30.stranger.sig") is None
    assert len(door.reviews.asked) == 2
    await door.clock.advance(FRESH_S)
    del door.reviews.tokens["e30.agent.sig"]
    assert await door.callers.recognise(GOOD) is None
    assert (door.counted("granted"), door.counted("refused")) == (3, 4)


async def test_what_is_no_token_is_not_even_asked_about() -> None:
    door = Door()
    for header in (None, "Basic x", "Bearer x", "Bearer " + "a" * 9_000):
        assert await door.callers.recognise(header) is None
    assert door.reviews.asked == []


async def test_while_the_server_is_away_good_verdicts_live_on_up_to_a_bound() -> None:
    door = Door()
    await door.callers.recognise(GOOD)
    door.reviews.broken = UnavailableError("create tokenreviews", "gone")
    await door.clock.advance(KEPT_S - 1)
    assert await door.callers.recognise(GOOD) == Caller("n1")
    assert door.counted("kept") == 1
    await door.clock.advance(1)
    with pytest.raises(CallersUnknownError):
        await door.callers.recognise(GOOD)
    assert door.counted("unknown") == 1


async def test_nobody_new_is_believed_without_an_answer() -> None:
    door = Door()
    door.reviews.broken = UnavailableError("create tokenreviews", "gone")
    with pytest.raises(CallersUnknownError):
        await door.callers.recognise(GOOD)
    door.reviews.broken = None
    assert await door.callers.recognise(GOOD) == Caller("n1")


async def test_a_refusal_does_not_become_a_grant_while_the_server_is_away() -> None:
    door = Door()
    assert await door.callers.recognise("Bearer e30.stranger.sig") is None
    door.reviews.broken = UnavailableError("create tokenreviews", "gone")
    await door.clock.advance(FRESH_S)
    with pytest.raises(CallersUnknownError):
        await door.callers.recognise("Bearer e30.stranger.sig")
