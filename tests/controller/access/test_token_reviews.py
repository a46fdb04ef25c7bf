import asyncio

import pytest
from nemutator_common import names
from nemutator_common.secret import Secret
from nemutator_controller.access.bearers import Accounts
from nemutator_controller.access.callers import Caller
from nemutator_controller.access.queueing import MOST_WAITING
from nemutator_controller.access.token_reviews import (
    CALLER_FRESH_S,
    CALLER_OUTAGE_S,
    CALLERS_AT_ONCE,
    MOST_CALLERS,
    ReviewedCallers,
    ReviewVerdict,
    ReviewVerdicts,
    UnknownNowError,
)
from nemutator_controller.kube.failures import UnavailableError
from nemutator_controller.kube.reviews import TokenVerdict

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews, account_token

AGENT = "system:serviceaccount:nemutator:nemutator-agent"
AGENT_TOKEN = account_token(AGENT)
GOOD = f"Bearer {AGENT_TOKEN}"
STRANGER = f"Bearer {account_token(AGENT, mark='stranger')}"
SOURCE = "10.0.0.1"


class Door:
    def __init__(self, reviews: MemoryReviews | None = None) -> None:
        self.reviews, self.clock, self.meter = (
            reviews or MemoryReviews(),
            ManualClock(),
            MemoryMeter(),
        )
        self.reviews.knows(AGENT_TOKEN, AGENT, node="n1")
        process = fake_process(clock=self.clock, meter=self.meter)
        self.callers = ReviewedCallers(self.reviews, Accounts(AGENT, "other"), process)

    def counted(self, result: str) -> float:
        return self.meter.value(names.CALLERS, result=result)


async def test_a_verdict_is_asked_for_once_in_a_minute_good_or_bad() -> None:
    door = Door()
    for _ in range(3):
        assert await door.callers.recognise(GOOD, source=SOURCE) == Caller("agent", "n1")
        assert await door.callers.recognise(STRANGER, source=SOURCE) is None
    assert len(door.reviews.asked) == 2
    await door.clock.advance(CALLER_FRESH_S)
    del door.reviews.tokens[AGENT_TOKEN]
    assert await door.callers.recognise(GOOD, source=SOURCE) is None
    assert (door.counted("granted"), door.counted("refused")) == (3, 4)


async def test_what_is_no_token_is_not_even_asked_about() -> None:
    door = Door()
    others = account_token(AGENT, audience="https://kubernetes.default.svc")
    somebody = account_token("system:serviceaccount:shop:web")
    for header in (
        None,
        "Basic x",
        "Bearer x",
        "Bearer " + "a" * 9_000,
        "Bearer e30.e30.c2ln",
        f"Bearer {others}",
        f"Bearer {somebody}",
    ):
        assert await door.callers.recognise(header, source=SOURCE) is None
    assert door.reviews.asked == []


async def test_while_the_server_is_away_good_verdicts_live_on_up_to_a_bound() -> None:
    door = Door()
    await door.callers.recognise(GOOD, source=SOURCE)
    door.reviews.broken = UnavailableError("create tokenreviews", "gone")
    await door.clock.advance(CALLER_OUTAGE_S - 1)
    assert await door.callers.recognise(GOOD, source=SOURCE) == Caller("agent", "n1")
    assert door.counted("kept") == 1
    await door.clock.advance(1)
    with pytest.raises(UnknownNowError):
        await door.callers.recognise(GOOD, source=SOURCE)
    assert door.counted("unknown") == 1


async def test_nobody_new_is_believed_without_an_answer() -> None:
    door = Door()
    door.reviews.broken = UnavailableError("create tokenreviews", "gone")
    with pytest.raises(UnknownNowError):
        await door.callers.recognise(GOOD, source=SOURCE)
    door.reviews.broken = None
    assert await door.callers.recognise(GOOD, source=SOURCE) == Caller("agent", "n1")


async def test_a_refusal_does_not_become_a_grant_while_the_server_is_away() -> None:
    door = Door()
    assert await door.callers.recognise(STRANGER, source=SOURCE) is None
    door.reviews.broken = UnavailableError("create tokenreviews", "gone")
    await door.clock.advance(CALLER_FRESH_S)
    with pytest.raises(UnknownNowError):
        await door.callers.recognise(STRANGER, source=SOURCE)


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

        return await self.verdicts.find(key, ask, source="")


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


class BusyReviews(MemoryReviews):
    """Answers one question after the other, and keeps their order."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []
        self.turn = asyncio.Lock()

    async def token(self, token: Secret, audiences: tuple[str, ...] = ()) -> TokenVerdict:
        async with self.turn:
            self.order.append(token.reveal())
            await asyncio.sleep(0)
            return await super().token(token, audiences)


async def _made_up(door: Door, source: str, number: int) -> bool:
    """Whether the API server was asked about it."""
    token = account_token(AGENT, mark=f"{source} {number}")
    try:
        await door.callers.recognise(f"Bearer {token}", source=source)
    except UnknownNowError:
        return False
    return True


async def test_made_up_tokens_keep_no_new_agent_from_its_turn() -> None:
    """Ten thousand come before it, from three addresses."""
    reviews = BusyReviews()
    door = Door(reviews)
    async with asyncio.TaskGroup() as tasks:
        for number in range(10_000):
            tasks.create_task(_made_up(door, f"10.0.0.{number % 3}", number))
        await asyncio.sleep(0)
        agent = tasks.create_task(door.callers.recognise(GOOD, source="10.0.1.1"))
    assert agent.result() == Caller("agent", "n1")
    assert reviews.order.index(AGENT_TOKEN) < 8 * CALLERS_AT_ONCE
    assert len(reviews.order) <= 3 * MOST_WAITING + CALLERS_AT_ONCE + 1
    assert door.counted("unknown") >= 9_000


async def test_made_up_tokens_push_out_no_verdict_and_hold_up_no_known_agent() -> None:
    reviews = BusyReviews()
    door = Door(reviews)
    await door.callers.recognise(GOOD, source=SOURCE)
    for number in range(MOST_CALLERS + 10):
        await _made_up(door, SOURCE, number)
    asked = len(reviews.order)
    assert await door.callers.recognise(GOOD, source=SOURCE) == Caller("agent", "n1")
    assert len(reviews.order) == asked
    # It is to be asked for again, while its own address has too many questions.
    await door.clock.advance(CALLER_FRESH_S)
    async with asyncio.TaskGroup() as tasks:
        for number in range(1_000):
            tasks.create_task(_made_up(door, SOURCE, -number - 1))
        await asyncio.sleep(0)
        agent = tasks.create_task(door.callers.recognise(GOOD, source=SOURCE))
    assert agent.result() == Caller("agent", "n1")


async def test_a_bad_token_is_answered_from_memory_and_a_good_one_may_turn_bad() -> None:
    door = Door()
    for _ in range(3):
        assert await door.callers.recognise(STRANGER, source=SOURCE) is None
    assert len(door.reviews.asked) == 1
    await door.callers.recognise(GOOD, source=SOURCE)
    del door.reviews.tokens[AGENT_TOKEN]
    await door.clock.advance(CALLER_FRESH_S)
    for _ in range(2):
        assert await door.callers.recognise(GOOD, source=SOURCE) is None
    assert len(door.reviews.asked) == 3
