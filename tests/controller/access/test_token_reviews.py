import pytest
from nemutator_common import names
from nemutator_controller.access.bearers import Accounts
from nemutator_controller.access.callers import Caller
from nemutator_controller.access.token_reviews import (
    CALLER_FRESH_S,
    CALLER_OUTAGE_S,
    ReviewedCallers,
    ReviewVerdict,
    ReviewVerdicts,
    UnknownNowError,
)
from nemutator_controller.kube.failures import UnavailableError

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews

AGENT = "system:serviceaccount:nemutator:nemutator-agent"
GOOD = "Bearer e30.agent.sig"


class Door:
    def __init__(self) -> None:
        self.reviews, self.clock, self.meter = MemoryReviews(), ManualClock(), MemoryMeter()
        self.reviews.knows("e30.agent.sig", AGENT, node="n1")
        process = fake_process(clock=self.clock, meter=self.meter)
        self.callers = ReviewedCallers(self.reviews, Accounts(AGENT, "other"), process)

    def counted(self, result: str) -> float:
        return self.meter.value(names.CALLERS, result=result)


async def test_a_verdict_is_asked_for_once_in_a_minute_good_or_bad() -> None:
    door = Door()
    for _ in range(3):
        assert await door.callers.recognise(GOOD) == Caller("agent", "n1")
        assert await door.callers.recognise("Bearer e30.stranger.sig") is None
    assert len(door.reviews.asked) == 2
    await door.clock.advance(CALLER_FRESH_S)
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
    await door.clock.advance(CALLER_OUTAGE_S - 1)
    assert await door.callers.recognise(GOOD) == Caller("agent", "n1")
    assert door.counted("kept") == 1
    await door.clock.advance(1)
    with pytest.raises(UnknownNowError):
        await door.callers.recognise(GOOD)
    assert door.counted("unknown") == 1


async def test_nobody_new_is_believed_without_an_answer() -> None:
    door = Door()
    door.reviews.broken = UnavailableError("create tokenreviews", "gone")
    with pytest.raises(UnknownNowError):
        await door.callers.recognise(GOOD)
    door.reviews.broken = None
    assert await door.callers.recognise(GOOD) == Caller("agent", "n1")


async def test_a_refusal_does_not_become_a_grant_while_the_server_is_away() -> None:
    door = Door()
    assert await door.callers.recognise("Bearer e30.stranger.sig") is None
    door.reviews.broken = UnavailableError("create tokenreviews", "gone")
    await door.clock.advance(CALLER_FRESH_S)
    with pytest.raises(UnknownNowError):
        await door.callers.recognise("Bearer e30.stranger.sig")


class Asked:
    """ReviewVerdicts on single letters, and how often each was asked for."""

    def __init__(self, *, most: int = 10, outage_s: float = 0) -> None:
        self.clock = ManualClock()
        self.verdicts: ReviewVerdicts[bool] = ReviewVerdicts(
            fresh_s=10,
            outage_s=outage_s,
            most=most,
            at_once=2,
            process=fake_process(clock=self.clock),
        )
        self.answers = dict.fromkeys("abc", True)
        self.asked: list[str] = []
        self.away = False

    async def find(self, key: str) -> ReviewVerdict[bool]:
        async def ask() -> bool:
            self.asked.append(key)
            if self.away:
                raise UnavailableError("create tokenreviews", "gone")
            return self.answers[key]

        return await self.verdicts.find(key, ask)


async def test_a_verdict_is_asked_for_again_when_it_is_no_longer_fresh() -> None:
    asked = Asked()
    assert (await asked.find("a")).value
    asked.answers["a"] = False
    await asked.clock.advance(9.9)
    assert (await asked.find("a")).value
    await asked.clock.advance(0.1)
    assert not (await asked.find("a")).value
    assert asked.asked == ["a", "a"]


async def test_what_was_not_used_for_longest_makes_room() -> None:
    asked = Asked(most=2)
    for key in "abac":
        await asked.find(key)
    asked.asked.clear()
    for key in "acb":
        await asked.find(key)
    assert asked.asked == ["b"]


async def test_in_an_outage_a_good_verdict_stands_up_to_the_bound_and_says_so() -> None:
    asked = Asked(outage_s=60)
    asked.answers["b"] = False
    await asked.find("a")
    await asked.find("b")
    asked.away = True
    await asked.clock.advance(59)
    verdict = await asked.find("a")
    assert (verdict.value, verdict.outdated) == (True, True)
    with pytest.raises(UnknownNowError):
        await asked.find("b")
    await asked.clock.advance(1)
    with pytest.raises(UnknownNowError):
        await asked.find("a")
