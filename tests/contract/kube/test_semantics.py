"""What versions, pages and selections mean, asked for without our client in between."""

import pytest

from tests.contract.kube.places import Place
from tests.contract.kube.refusals import INSIDE, PODS, pod
from tests.fakes.kube.conversation import Conversation, Json

INITIAL_EVENTS = {
    "sendInitialEvents": "true",
    "resourceVersionMatch": "NotOlderThan",
    "allowWatchBookmarks": "true",
}


@pytest.fixture
def pods(place: Place) -> str:
    return PODS.format(namespace=place.namespace)


def names(answer: Json) -> list[str]:
    return [item["metadata"]["name"] for item in answer["items"]]


def version(manifest: Json) -> str:
    text: str = manifest["metadata"]["resourceVersion"]
    return text


async def test_a_list_can_be_of_a_version_or_not_older(api: Conversation, pods: str) -> None:
    old = version(await api.create(pods, pod("a")))
    new = version(await api.create(pods, pod("b")))
    exactly = await api.get(pods, resourceVersion=old, resourceVersionMatch="Exact")
    assert (names(exactly), version(exactly)) == (["a"], old)
    for query in ({}, {"resourceVersion": new}):
        latest = await api.get(pods, **query)
        assert names(latest) == ["a", "b"]
        assert int(version(latest)) >= int(new)
    at_least = await api.get(pods, resourceVersion=old, resourceVersionMatch="NotOlderThan")
    assert names(at_least) == ["a", "b"]
    page_of_then = await api.get(pods, resourceVersion=old, limit="5")
    assert names(page_of_then) == ["a"]


async def test_pages_show_one_moment_and_count_what_remains(api: Conversation, pods: str) -> None:
    for number in range(5):
        await api.create(pods, pod(f"pod-{number}"))
    first = await api.get(pods, limit="2")
    assert first["metadata"]["remainingItemCount"] == 3
    await api.ask("DELETE", f"{pods}/pod-3", {"gracePeriodSeconds": 0})
    await api.create(pods, pod("pod-9"))
    second = await api.get(pods, limit="2", continue_=first["metadata"]["continue"])
    third = await api.get(pods, limit="2", continue_=second["metadata"]["continue"])
    pages = [first, second, third]
    assert [name for page in pages for name in names(page)] == [f"pod-{n}" for n in range(5)]
    assert len({version(page) for page in pages}) == 1
    assert "continue" not in third["metadata"]


async def test_what_is_narrowed_is_not_counted(api: Conversation, pods: str) -> None:
    for number in range(3):
        await api.create(pods, pod(f"pod-{number}", labels={"a": "b"}))
    page = await api.get(pods, limit="1", labelSelector="a=b")
    assert "remainingItemCount" not in page["metadata"]
    assert page["metadata"]["continue"]


async def test_an_expired_page_offers_the_rest_as_it_is_now(
    api: Conversation, place: Place
) -> None:
    events = f"{INSIDE}/events".format(namespace=place.namespace)

    async def happened(name: str) -> None:
        about = {"namespace": place.namespace}
        await api.create(events, {"metadata": {"name": name}, "involvedObject": about})

    for number in range(3):
        await happened(f"e-{number}")
    token = (await api.get(events, limit="1"))["metadata"]["continue"]
    await happened("e-9")
    await place.compact()
    code, status = await api.ask("GET", events, limit="1", continue_=token)
    assert (code, status["reason"]) == (410, "Expired")
    assert status["message"].startswith("The provided continue parameter is too old")
    rest = await api.get(events, continue_=status["metadata"]["continue"])
    assert names(rest) == ["e-1", "e-2", "e-9"]


async def test_only_metadata_when_asked_for(api: Conversation, pods: str) -> None:
    await api.create(pods, pod("a"))
    accept = {
        "Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
    }
    _, answer = await api.ask("GET", pods, headers=accept)
    assert (answer["kind"], answer["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    (item,) = answer["items"]
    assert set(item) == {"kind", "apiVersion", "metadata"}


async def test_items_of_built_in_kinds_do_not_say_their_kind(api: Conversation, pods: str) -> None:
    await api.create(pods, pod("a"))
    (item,) = (await api.get(pods))["items"]
    assert {"kind", "apiVersion"}.isdisjoint(item)


async def test_a_watch_tells_what_happened_after_its_version(api: Conversation, pods: str) -> None:
    await api.create(pods, pod("before"))
    async with api.watch(pods, resourceVersion=version(await api.get(pods))) as stream:
        created = await api.create(pods, pod("a"))
        event = await stream.event()
        assert (event["type"], version(event["object"])) == ("ADDED", version(created))
        merge = {"Content-Type": "application/merge-patch+json"}
        await api.ask("PATCH", f"{pods}/a", {"metadata": {"labels": {"x": "y"}}}, headers=merge)
        changed = await stream.event()
        assert (changed["type"], changed["object"]["metadata"]["labels"]) == (
            "MODIFIED",
            {"x": "y"},
        )
        _, answer = await api.ask("DELETE", f"{pods}/a", {"gracePeriodSeconds": 0})
        marked, gone = await stream.event(), await stream.event()
        # A pod that goes at once is marked before.
        assert (marked["type"], gone["type"]) == ("MODIFIED", "DELETED")
        assert marked["object"]["metadata"]["deletionTimestamp"]
        assert marked["object"]["metadata"]["generation"] == 2
        assert int(version(gone["object"])) > int(version(marked["object"]))
        assert version(answer) == version(gone["object"])


async def test_without_a_version_it_begins_with_all_that_there_is(
    api: Conversation, pods: str
) -> None:
    await api.create(pods, pod("a"))
    for query in ({}, {"resourceVersion": "0"}):
        async with api.watch(pods, **query) as stream:
            assert await stream.brief() == ("ADDED", "a")


async def test_the_initial_events_end_with_a_bookmark_of_their_version(
    api: Conversation, pods: str
) -> None:
    made = await api.create(pods, pod("a"))
    async with api.watch(pods, **INITIAL_EVENTS) as stream:
        assert await stream.brief() == ("ADDED", "a")
        bookmark = await stream.event()
    assert bookmark["type"] == "BOOKMARK"
    metadata = bookmark["object"]["metadata"]
    assert metadata["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(metadata["resourceVersion"]) >= int(version(made))


async def test_entering_and_leaving_a_selection_is_added_and_deleted(
    api: Conversation, pods: str
) -> None:
    start = version(await api.get(pods))
    merge = {"Content-Type": "application/merge-patch+json"}
    async with api.watch(pods, resourceVersion=start, labelSelector="tier=web") as stream:
        await api.create(pods, pod("a", labels={"tier": "db"}))
        for tier in ("web", "db"):
            change = {"metadata": {"labels": {"tier": tier}}}
            _, manifest = await api.ask("PATCH", f"{pods}/a", change, headers=merge)
            last = await stream.event()
            assert last["type"] == ("ADDED" if tier == "web" else "DELETED")
            # What left is shown as it was, with the version of its leaving.
            assert last["object"]["metadata"]["labels"] == {"tier": "web"}
            assert version(last["object"]) == version(manifest)


@pytest.mark.slow
async def test_a_watch_ends_in_good_order_when_its_time_is_over(
    api: Conversation, pods: str
) -> None:
    async with api.watch(
        pods, resourceVersion=version(await api.get(pods)), timeoutSeconds="1"
    ) as stream:
        assert await stream.line() == b""


async def test_a_write_that_changes_nothing_makes_no_version(api: Conversation, pods: str) -> None:
    made = await api.create(pods, pod("a", labels={"x": "1"}))
    merge = {"Content-Type": "application/merge-patch+json"}
    same = {"metadata": {"labels": {"x": "1"}}}
    _, again = await api.ask("PATCH", f"{pods}/a", same, headers=merge)
    assert version(again) == version(made)


async def test_generation_counts_changes_of_the_spec(api: Conversation, place: Place) -> None:
    path = f"/apis/policy/v1/namespaces/{place.namespace}/poddisruptionbudgets"
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "none"}}}
    made = await api.create(path, {"metadata": {"name": "a"}, "spec": spec})
    merge = {"Content-Type": "application/merge-patch+json"}
    assert made["metadata"]["generation"] == 1
    labels = {"metadata": {"labels": {"x": "1"}}}
    _, labelled = await api.ask("PATCH", f"{path}/a", labels, headers=merge)
    assert labelled["metadata"]["generation"] == 1
    change = {"spec": {"minAvailable": 2}}
    _, changed = await api.ask("PATCH", f"{path}/a", change, headers=merge)
    assert changed["metadata"]["generation"] == 2


async def test_finalizers_keep_an_object_until_they_are_gone(
    api: Conversation, place: Place
) -> None:
    path = f"{INSIDE}/configmaps".format(namespace=place.namespace)
    await api.create(path, {"metadata": {"name": "held", "finalizers": ["nemutator.io/test"]}})
    assert (await api.ask("DELETE", f"{path}/held"))[0] == 200
    assert (await api.get(f"{path}/held"))["metadata"]["deletionTimestamp"]
    merge = {"Content-Type": "application/merge-patch+json"}
    await api.ask("PATCH", f"{path}/held", {"metadata": {"finalizers": None}}, headers=merge)
    assert (await api.ask("GET", f"{path}/held"))[0] == 404
