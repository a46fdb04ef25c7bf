import itertools

import pytest
from nemutator_common.secret import Secret
from nemutator_controller.access.people import (
    FRESH_S,
    MOST_SESSIONS,
    People,
)
from nemutator_controller.access.permissions import Permission
from nemutator_controller.access.token_reviews import UnknownNowError
from nemutator_controller.kube.failures import UnavailableError

from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.reviews import MemoryReviews

LOOK = Permission("get", "leases")


class House:
    def __init__(self) -> None:
        self.reviews, self.clock = MemoryReviews(), ManualClock()
        self.reviews.knows("anna-token", "anna")
        numbers = itertools.count()
        self.people = People(
            self.reviews,
            fake_process(clock=self.clock),
            session_s=600,
            fresh=lambda: Secret(f"session-{next(numbers)}"),
        )


async def test_somebody_is_who_the_cluster_says_and_may_what_it_grants() -> None:
    house = House()
    assert await house.people.user(Secret("nobody"), source="10.0.0.1") is None
    user = await house.people.user(Secret("anna-token"), source="10.0.0.1")
    assert user is not None
    assert not await house.people.may(user, LOOK, namespace="")
    house.reviews.allowed.add(("anna", "get", "leases", "shop"))
    assert await house.people.may(user, LOOK, namespace="shop")
    assert not await house.people.may(user, LOOK, namespace="bank")


async def test_verdicts_are_asked_for_again_soon() -> None:
    house = House()
    user = await house.people.user(Secret("anna-token"), source="10.0.0.1")
    assert user is not None
    house.reviews.allowed.add(("anna", "get", "leases", ""))
    assert await house.people.may(user, LOOK, namespace="")
    house.reviews.allowed.clear()
    assert await house.people.may(user, LOOK, namespace="")
    await house.clock.advance(FRESH_S)
    assert not await house.people.may(user, LOOK, namespace="")
    house.reviews.tokens.clear()
    assert await house.people.user(Secret("anna-token"), source="10.0.0.1") is None


async def test_without_an_answer_nobody_is_let_in() -> None:
    house = House()
    user = await house.people.user(Secret("anna-token"), source="10.0.0.1")
    assert user is not None
    house.reviews.broken = UnavailableError("create", "gone")
    await house.clock.advance(FRESH_S)
    with pytest.raises(UnknownNowError):
        await house.people.user(Secret("anna-token"), source="10.0.0.1")
    with pytest.raises(UnknownNowError):
        await house.people.may(user, LOOK, namespace="")


async def test_a_session_stands_for_the_token_until_it_ends() -> None:
    house = House()
    assert await house.people.sign_in(Secret("nobody"), source="10.0.0.1") is None
    session = await house.people.sign_in(Secret("anna-token"), source="10.0.0.1")
    assert session is not None
    assert house.people.token_of(session.reveal()) == Secret("anna-token")
    assert house.people.token_of("session-9") is None
    assert house.people.token_of("") is None
    await house.clock.advance(600)
    assert house.people.token_of(session.reveal()) is None


async def test_sessions_are_bounded_and_the_oldest_make_room() -> None:
    house = House()
    for _ in range(MOST_SESSIONS + 1):
        await house.people.sign_in(Secret("anna-token"), source="10.0.0.1")
    assert house.people.token_of("session-0") is None
    assert house.people.token_of("session-1") is not None
    assert house.people.token_of(f"session-{MOST_SESSIONS}") is not None


async def test_a_token_that_was_narrowed_does_not_profit_from_one_that_was_not() -> None:
    house = House()
    house.reviews.knows("narrow", "anna", scope="info")
    house.reviews.allowed.add(("anna", "get", "leases", ""))
    for token in ("anna-token", "narrow"):
        user = await house.people.user(Secret(token), source="10.0.0.1")
        assert user is not None
        await house.people.may(user, LOOK, namespace="")
    assert house.reviews.asked.count("access") == 2
