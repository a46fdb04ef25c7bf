"""Watch: where it starts, what it says, and how it ends."""

from tests.fakes.kube.conversation import Conversation, pod
from tests.fakes.kube.server import FakeKube

PODS = "/api/v1/namespaces/default/pods"
LIST = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}


async def test_a_server_without_watch_list_says_so() -> None:
    async with FakeKube(watch_list=False) as kube, Conversation(kube) as api:
        code, status = await api.ask("GET", PODS, watch="1", headers=None, **LIST)
        assert (code, status["reason"]) == (422, "Invalid")
        assert "WatchList feature gate" in status["message"]


async def test_bookmarks_come_by_time_to_those_who_allow_them() -> None:
    async with FakeKube(bookmark_s=0.01) as kube, Conversation(kube) as api:
        async with api.watch(PODS, resourceVersion="5", allowWatchBookmarks="true") as stream:
            assert (await stream.event())["type"] == "BOOKMARK"
        async with api.watch(PODS, resourceVersion="5", timeoutSeconds="0.05") as stream:
            assert await stream.line() == b""


async def test_a_forgotten_version_is_an_error_event_or_a_status(
    kube: FakeKube, api: Conversation
) -> None:
    await api.create(PODS, pod("a"))
    await api.create(PODS, pod("b"))
    kube.controls.compact()
    async with api.watch(PODS, resourceVersion="2") as stream:
        error = await stream.event()
        assert error["type"] == "ERROR"
        assert (error["object"]["code"], error["object"]["reason"]) == (410, "Expired")
        assert error["object"]["message"].startswith("too old resource version: 2 (")
        assert await stream.line() == b""
    kube.controls.gone_as_status = True
    code, status = await api.ask("GET", PODS, watch="1", resourceVersion="2")
    assert (code, status["reason"]) == (410, "Expired")
