"""Our Events, as the API server keeps them."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from nemutator_common.system_clock import SystemClock
from nemutator_controller.kube.announcing import Announcer, News
from nemutator_controller.kube.resources import NAMESPACES, PODS

from tests.contract.kube.conftest import Client
from tests.contract.kube.places import Place
from tests.contract.kube.refusals import pod
from tests.contract.kube.waiting import until
from tests.fakes.kube.conversation import Conversation
from tests.fakes.process import fake_process


@pytest.fixture
async def announcer(client: Client) -> AsyncIterator[Announcer]:
    announcer = Announcer(
        client.write,
        fake_process(clock=SystemClock(), meter=client.meter),
        component="nemutator-test",
    )
    async with asyncio.TaskGroup() as group:
        task = group.create_task(announcer.run())
        yield announcer
        task.cancel()


async def told_about(api: Conversation, namespace: str, uid: str, times: int) -> None:
    path = f"/api/v1/namespaces/{namespace}/events"

    async def counted() -> bool:
        chosen = await api.get(path, fieldSelector=f"involvedObject.uid={uid}")
        return [item["count"] for item in chosen["items"]] == [times]

    await until(counted, f"one Event of count {times} in {namespace}")


async def test_the_same_news_is_one_event_that_counts(
    announcer: Announcer, client: Client, api: Conversation, place: Place
) -> None:
    await client.write.create(PODS, place.namespace, pod("web"))
    web = await client.get(PODS, place.namespace, "web")
    note = "requests.cpu is 100m now"
    news = News("v1", "Pod", place.namespace, "web", web.metadata.uid, "Corrected", note)
    announcer.announce(news)
    await told_about(api, place.namespace, web.metadata.uid, 1)
    announcer.announce(news)
    announcer.announce(news)
    await told_about(api, place.namespace, web.metadata.uid, 3)
    path = f"/api/v1/namespaces/{place.namespace}/events"
    assert (await api.ask("DELETE", path))[0] == 200
    announcer.announce(news)
    await told_about(api, place.namespace, web.metadata.uid, 4)


async def test_news_of_what_lies_in_no_namespace_lies_in_the_default_one(
    announcer: Announcer, client: Client, api: Conversation, place: Place
) -> None:
    here = await client.get(NAMESPACES, "", place.namespace)
    uid, note = here.metadata.uid, "mutation is on"
    announcer.announce(News("v1", "Namespace", "", place.namespace, uid, "Opened", note))
    await told_about(api, "default", here.metadata.uid, 1)
