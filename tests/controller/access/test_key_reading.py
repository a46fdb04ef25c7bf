import asyncio

import pytest
from nemutator_common import names
from nemutator_controller.access.key_reading import AGAIN_S, FRESH_S, SigningKeys
from nemutator_controller.access.token_reviews import UnknownNowError
from nemutator_controller.kube.failures import ForbiddenError, UnavailableError
from nemutator_controller.kube.reviews import PublishedKeys

from tests.fakes.clocks import ManualClock
from tests.fakes.issuers import Issuer, ec_key, key_id, rsa_key
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

FIRST, SECOND = key_id(ec_key()), key_id(rsa_key())


class Reading:
    def __init__(self, issuer: Issuer | None = None) -> None:
        self.issuer, self.clock, self.meter = (
            issuer or Issuer(ec_key()),
            ManualClock(),
            MemoryMeter(),
        )
        process = fake_process(clock=self.clock, meter=self.meter)
        self.keys = SigningKeys(source=self.issuer, process=process)


async def test_keys_are_read_once_for_many_tokens() -> None:
    reading = Reading()
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(reading.keys.for_key(FIRST)) for _ in range(1_000)]
    assert {found.issuer for task in asked if (found := task.result())} == {
        "https://kubernetes.default.svc.cluster.local"
    }
    assert reading.issuer.asked == 1
    assert reading.meter.value(names.SIGNING_KEYS_READ, result="read") == 1


async def test_a_new_key_is_found_and_one_that_is_not_there_is_asked_for_once_in_a_while() -> None:
    reading = Reading()
    await reading.keys.for_key(FIRST)
    reading.issuer.keys.append(rsa_key())
    # A token with the new key comes while the last question was just now.
    with pytest.raises(UnknownNowError):
        await reading.keys.for_key(SECOND)
    await reading.clock.advance(AGAIN_S)
    found = await reading.keys.for_key(SECOND)
    assert found is not None
    assert found.names(SECOND)
    for number in range(1_000):
        with pytest.raises(UnknownNowError):
            await reading.keys.for_key(f"made up {number}")
    assert reading.issuer.asked == 2
    await reading.clock.advance(AGAIN_S)
    found = await reading.keys.for_key("made up")
    assert found is not None
    assert not found.names("made up")


async def test_a_key_that_the_cluster_takes_back_is_forgotten() -> None:
    reading = Reading(Issuer(ec_key(), rsa_key()))
    await reading.keys.for_key(FIRST)
    reading.issuer.keys.remove(ec_key())
    await reading.clock.advance(FRESH_S - 1)
    found = await reading.keys.for_key(FIRST)
    assert found is not None
    assert found.names(FIRST)
    await reading.clock.advance(1)
    found = await reading.keys.for_key(FIRST)
    assert found is not None
    assert not found.names(FIRST)


@pytest.mark.parametrize("error", [ForbiddenError("get", "no"), UnavailableError("get", "gone")])
async def test_where_no_keys_are_shown_there_are_none_and_it_is_asked_again_later(
    error: Exception,
) -> None:
    reading = Reading()
    reading.issuer.broken = error  # type: ignore[assignment]
    for _ in range(10):
        assert await reading.keys.for_key(FIRST) is None
    assert reading.issuer.asked == 1
    assert reading.meter.value(names.SIGNING_KEYS_READ, result="failed") == 1
    await reading.clock.advance(AGAIN_S)
    reading.issuer.broken = None
    assert await reading.keys.for_key(FIRST) is not None


async def test_in_an_outage_the_keys_of_before_serve_on() -> None:
    reading = Reading()
    before = await reading.keys.for_key(FIRST)
    reading.issuer.broken = UnavailableError("get", "gone")
    await reading.clock.advance(10 * FRESH_S)
    assert await reading.keys.for_key(FIRST) is before
    with pytest.raises(UnknownNowError):
        await reading.keys.for_key(SECOND)


class NonsenseIssuer(Issuer):
    async def signing_keys(self) -> PublishedKeys:
        await super().signing_keys()
        return PublishedKeys(discovery=b"<html>", keys=b"")


async def test_documents_that_make_no_sense_are_none() -> None:
    reading = Reading(NonsenseIssuer(ec_key()))
    assert await reading.keys.for_key(FIRST) is None
    assert reading.meter.value(names.SIGNING_KEYS_READ, result="failed") == 1


class SlowIssuer(Issuer):
    def __init__(self) -> None:
        super().__init__(ec_key())
        self.answer = asyncio.Event()
        self.answer.set()

    async def signing_keys(self) -> PublishedKeys:
        published = await super().signing_keys()
        await self.answer.wait()
        return published


async def test_who_has_a_known_key_does_not_wait_while_keys_are_read_again() -> None:
    issuer = SlowIssuer()
    reading = Reading(issuer)
    await reading.keys.for_key(FIRST)
    await reading.clock.advance(FRESH_S)
    issuer.answer.clear()
    async with asyncio.TaskGroup() as tasks:
        slow = tasks.create_task(reading.keys.for_key(FIRST))
        await asyncio.sleep(0)
        assert await reading.keys.for_key(FIRST) is not None
        assert not slow.done()
        issuer.answer.set()
    assert issuer.asked == 2
