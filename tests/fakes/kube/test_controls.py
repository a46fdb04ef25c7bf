"""What a test can do to the server: each disturbance looks from outside as the real one does."""

import asyncio

import aiohttp
import pytest

from tests.fakes.kube import kinds
from tests.fakes.kube.conversation import Conversation, pod
from tests.fakes.kube.server import FakeKube

PODS = "/api/v1/namespaces/default/pods"


async def test_a_cut_watch_breaks_without_an_end(kube: FakeKube, api: Conversation) -> None:
    async with api.watch(PODS) as stream:
        assert kube.controls.cut_watches() == 1
        with pytest.raises(aiohttp.ClientError):
            await stream.line()
    assert kube.controls.watches == []


async def test_a_stalled_watch_says_nothing_and_stays_open(
    kube: FakeKube, api: Conversation
) -> None:
    async with api.watch(PODS) as stream:
        kube.controls.stall_watches()
        await api.create(PODS, pod("a"))
        reading = stream.event()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await reading


async def test_an_expired_watch_gets_410_in_its_stream_and_ends(
    kube: FakeKube, api: Conversation
) -> None:
    async with api.watch(PODS) as stream:
        kube.controls.expire_watches()
        error = await stream.event()
        assert (error["type"], error["object"]["code"]) == ("ERROR", 410)
        assert await stream.line() == b""


async def test_compacting_does_not_disturb_a_watch_that_is_up_to_date(
    kube: FakeKube, api: Conversation
) -> None:
    async with api.watch(PODS) as stream:
        await api.create(PODS, pod("a"))
        assert await stream.brief() == ("ADDED", "a")
        kube.controls.compact()
        await api.create(PODS, pod("b"))
        assert await stream.brief() == ("ADDED", "b")


async def test_garbage_and_huge_objects_can_be_put_into_the_stream(
    kube: FakeKube, api: Conversation
) -> None:
    async with api.watch(PODS, allowWatchBookmarks="true") as stream:
        kube.controls.inject_line(b"{not json")
        assert await stream.line() == b"{not json\n"
        huge = {"metadata": {"name": "huge", "annotations": {"x": "y" * 3_000_000}}}
        kube.controls.inject_event("ADDED", huge)
        assert len(await stream.line()) > 3_000_000
        kube.controls.send_bookmarks()
        assert (await stream.event())["type"] == "BOOKMARK"


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "Unauthorized"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
    ],
)
async def test_the_next_requests_fail_and_then_no_more(
    kube: FakeKube, api: Conversation, status: int, reason: str
) -> None:
    kube.controls.fail_next(status, count=2, verb="list")
    assert (await api.ask("GET", f"{PODS}/a"))[0] == 404
    answers = [await api.ask("GET", PODS) for _ in range(3)]
    assert [code for code, _ in answers] == [status, status, 200]
    assert answers[0][1]["reason"] == reason


async def test_retry_after_is_a_header_too(kube: FakeKube, api: Conversation) -> None:
    kube.controls.fail_next(429, retry_after_s=7)
    async with api._session.get(PODS) as response:
        assert response.headers["Retry-After"] == "7"


async def test_a_restart_keeps_port_and_data(kube: FakeKube, api: Conversation) -> None:
    made = await api.create(PODS, pod("a"))
    port = kube.port
    async with api.watch(PODS, resourceVersion="0") as stream:
        assert await stream.brief() == ("ADDED", "a")
        await kube.controls.restart()
        with pytest.raises(aiohttp.ClientError):
            await stream.line()
    assert kube.port == port
    assert await api.get(f"{PODS}/a") == made


async def test_a_restart_from_an_empty_backup_starts_versions_again(
    kube: FakeKube, api: Conversation
) -> None:
    await api.create(PODS, pod("a"))
    before = kube.store.version
    await kube.controls.restart(lose_data=True)
    assert kube.store.version < before
    assert (await api.get(PODS))["items"] == []
    assert kube.store.get(kinds.NAMESPACES, "", "default")


async def test_a_new_authority_is_trusted_only_by_those_who_read_it_again(
    kube: FakeKube, api: Conversation
) -> None:
    await kube.rotate_authority()
    with pytest.raises(aiohttp.ClientSSLError):
        await api.get(PODS)
    async with Conversation(kube) as fresh:
        assert (await fresh.get(PODS))["items"] == []


async def test_latency_holds_every_answer(kube: FakeKube, api: Conversation) -> None:
    kube.controls.latency_s = 30.0
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await api.get(PODS)


async def test_a_watch_whose_client_left_ends(kube: FakeKube, api: Conversation) -> None:
    async with api.watch(PODS):
        assert len(kube.controls.watches_of(kinds.PODS)) == 1
    await kube.store.changed(lambda: not kube.controls.watches, timeout_s=60.0)
    assert kube.controls.watches == []
