"""Watch: where it starts, what it says, and how it ends."""

from tests.fakes.kube.conversation import Conversation, pod
from tests.fakes.kube.server import FakeKube

PODS = "/api/v1/namespaces/default/pods"
LIST = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}


async def test_a_watch_tells_what_happened_after_its_version(api: Conversation) -> None:
    await api.create(PODS, pod("before"))
    version = (await api.get(PODS))["metadata"]["resourceVersion"]
    async with api.watch(PODS, resourceVersion=version) as stream:
        created = await api.create(PODS, pod("a"))
        assert await stream.event() == {"type": "ADDED", "object": created}
        created["metadata"]["labels"] = {"x": "y"}
        await api.ask("PUT", f"{PODS}/a", created)
        assert await stream.brief() == ("MODIFIED", "a")
        await api.ask("DELETE", f"{PODS}/a")
        gone = await stream.event()
        assert gone["type"] == "DELETED"
        assert int(gone["object"]["metadata"]["resourceVersion"]) > int(version) + 2


async def test_without_a_version_it_begins_with_all_that_there_is(api: Conversation) -> None:
    await api.create(PODS, pod("a"))
    async with api.watch(PODS, resourceVersion="0") as stream:
        assert await stream.brief() == ("ADDED", "a")


async def test_watch_list_marks_the_end_of_the_initial_events(api: Conversation) -> None:
    await api.create(PODS, pod("a"))
    async with api.watch(PODS, allowWatchBookmarks="true", **LIST) as stream:
        assert await stream.brief() == ("ADDED", "a")
        bookmark = await stream.event()
        assert bookmark["type"] == "BOOKMARK"
        metadata = bookmark["object"]["metadata"]
        assert metadata["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert metadata["resourceVersion"] == (await api.get(PODS))["metadata"]["resourceVersion"]


async def test_a_server_without_watch_list_says_so() -> None:
    async with FakeKube(watch_list=False) as kube, Conversation(kube) as api:
        code, status = await api.ask("GET", PODS, watch="1", headers=None, **LIST)
        assert (code, status["reason"]) == (422, "Invalid")
        assert "WatchList feature gate" in status["message"]


async def test_entering_and_leaving_a_selection_is_added_and_deleted(api: Conversation) -> None:
    async with api.watch(PODS, resourceVersion="1", labelSelector="tier=web") as stream:
        thing = await api.create(PODS, pod("a", tier="db"))
        thing["metadata"]["labels"] = {"tier": "web"}
        _, thing = await api.ask("PUT", f"{PODS}/a", thing)
        assert await stream.brief() == ("ADDED", "a")
        thing["metadata"]["labels"] = {"tier": "db"}
        _, thing = await api.ask("PUT", f"{PODS}/a", thing)
        last = await stream.event()
        assert (last["type"], last["object"]["metadata"]["labels"]) == ("DELETED", {"tier": "web"})
        assert last["object"]["metadata"]["resourceVersion"] == thing["metadata"]["resourceVersion"]


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
