"""A bucket, the fake and the real one, behind a connection that is silent or is cut."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_controller.database.failures import StoreUnavailableError
from yarl import URL

from tests.contract.objects.buckets import KINDS, Bucket, bucket_of
from tests.fakes.relays import Relay, relay_to

FIRST_OF_A_REQUEST = b"GPD\x16"
"""The first bytes of GET, PUT and DELETE, and of a handshake of TLS."""
NEVER_S = 3600.0
PATIENCE_S = 60.0


@pytest.fixture(params=KINDS)
async def behind(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[Relay, Bucket]]:
    async with bucket_of(request, tmp_path) as found, relay_to(found.ours.bucket) as relay:
        port = URL(relay.url).port
        assert port is not None
        yield relay, replace(found, ours=replace(found.ours, bucket=found.at(port)))


async def test_one_that_says_nothing_is_given_up_and_asked_anew(
    behind: tuple[Relay, Bucket],
) -> None:
    relay, bucket = behind
    relay.late, relay.late_s = FIRST_OF_A_REQUEST, NEVER_S
    hasty = replace(bucket.ours, deadline_s=0.2)
    for attempt in (hasty.put("a", b"b"), hasty.get("a"), hasty.remove("a")):
        with pytest.raises(StoreUnavailableError) as failure:
            await attempt
        assert failure.value.reason == "deadline"
    relay.late_s = 0.0
    await bucket.ours.put("a", b"b")
    assert await bucket.ours.get("a") == b"b"


async def test_connections_that_are_cut_are_told_as_such(behind: tuple[Relay, Bucket]) -> None:
    relay, bucket = behind
    relay.late, relay.late_s = FIRST_OF_A_REQUEST, NEVER_S
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        putting = tasks.create_task(_reason_of_putting(bucket))
        # Again and again: what can be repeated is, on another connection.
        while not putting.done():
            relay.cut_all()
            await asyncio.sleep(0.01)
    assert putting.result() == "gone"
    relay.late_s = 0.0
    await bucket.ours.put("a", b"b")
    assert await bucket.ours.get("a") == b"b"


async def _reason_of_putting(bucket: Bucket) -> str:
    try:
        await bucket.ours.put("a", b"b")
    except StoreUnavailableError as failure:
        return failure.reason
    return "put"
