"""The informer against an API server: real churn, and all that can happen to a watch."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from nemutator_common import names
from nemutator_controller.kube import calls
from nemutator_controller.kube.calls import Call, Selection
from nemutator_controller.kube.decoder import Bookmark, Decoder, Failed
from nemutator_controller.kube.failures import UnavailableError
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.lines import LineSplitter
from nemutator_controller.kube.objects import Object, Pod
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.resources import PODS, Resource

from tests.contract.kube import gadgets
from tests.contract.kube.conftest import Client
from tests.contract.kube.places import Place
from tests.contract.kube.refusals import GADGETS, pod
from tests.contract.kube.relay import Relay
from tests.contract.kube.variants import on_the_fake_alone
from tests.fakes.kube.conversation import Conversation
from tests.fakes.kube.server import FakeKube

T = TypeVar("T", bound=Object)

PATIENCE_S = 60.0


@contextlib.asynccontextmanager
async def informed(client: Client, resource: Resource[T]) -> AsyncIterator[Informer[T]]:
    informer = client.informer(resource)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run())
        async with asyncio.timeout(PATIENCE_S):
            await informer.synced()
        yield informer
        task.cancel()


async def until(
    informer: Informer[T], place: Place, true: Callable[[Mapping[str, T]], bool]
) -> None:
    """Wait until the objects of the test are as wanted, by the informer's own changes."""
    with informer.subscribe("test") as subscription:
        async with asyncio.timeout(PATIENCE_S):
            while not true(objects_of(informer, place)):
                await subscription.next()


def objects_of(informer: Informer[T], place: Place) -> dict[str, T]:
    """By name; other namespaces are other tests' business."""
    return {
        manifest.metadata.name: manifest
        for manifest in informer.snapshot().objects.values()
        if manifest.metadata.namespace == place.namespace
    }


async def test_it_follows_creation_change_and_deletion(client: Client, place: Place) -> None:
    here = place.namespace
    await client.write.create(PODS, here, pod("a"))
    async with informed(client, PODS) as informer:
        await client.write.create(PODS, here, pod("b"))
        await until(informer, place, lambda pods: {"a", "b"} <= pods.keys())
        label = {"metadata": {"labels": {"changed": "yes"}}}
        await client.write.merge_patch(PODS, here, "b", label)
        await until(informer, place, lambda pods: pods["b"].metadata.labels == {"changed": "yes"})
        await client.delete(PODS, here, "a")
        await until(informer, place, lambda pods: "a" not in pods)


@pytest.mark.slow
async def test_it_agrees_with_the_server_after_much_has_happened(
    client: Client, api: Conversation, place: Place
) -> None:
    path = f"/api/v1/namespaces/{place.namespace}/pods"

    async def churn(name: str) -> None:
        for turn in range(5):
            await api.create(path, pod(name, labels={"turn": str(turn)}))
            if turn % 2:
                await api.ask("DELETE", f"{path}/{name}", {"gracePeriodSeconds": 0})
                continue
            body = {"metadata": {"labels": {"turn": f"{turn}-again"}}}
            merge = {"Content-Type": "application/merge-patch+json"}
            await api.ask("PATCH", f"{path}/{name}", body, headers=merge)
            if turn < 4:
                await api.ask("DELETE", f"{path}/{name}", {"gracePeriodSeconds": 0})

    async with informed(client, PODS) as informer:
        async with asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(churn(f"web-{number}"))
        items = (await api.get(path))["items"]
        wanted = {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}

        def agrees(pods: Mapping[str, Pod]) -> bool:
            return {name: pods[name].metadata.resource_version for name in pods} == wanted

        await until(informer, place, agrees)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cut", "closed for a while", "half-open"])
async def test_it_survives_what_networks_do(
    relayed: Client, relay: Relay, client: Client, place: Place, how: str
) -> None:
    here = place.namespace
    await client.write.create(PODS, here, pod("before"))
    async with informed(relayed, PODS) as informer:
        if how == "cut":
            relay.cut()
        elif how == "closed for a while":
            await relay.close()
        else:
            relay.hold()
        await client.delete(PODS, here, "before")
        await client.write.create(PODS, here, pod("after"))
        if how == "closed for a while":
            await relay.open()
        elif how == "half-open":
            # What the silence of a real connection leads to after 150 s.
            relay.cut()
            relay.flow()
        await until(informer, place, lambda pods: pods.keys() == {"after"})
    if how != "closed for a while":
        lists = {
            why: relayed.meter.value(names.KUBE_LISTS, resource="pods", reason=why)
            for why in ("first", "gone", "stuck", "periodic")
        }
        assert lists == {"first": 1, "gone": 0, "stuck": 0, "periodic": 0}


@pytest.mark.slow
@on_the_fake_alone("a real server neither restarts nor forgets while others use it")
@pytest.mark.parametrize("how", ["cut", "expire", "restart", "compact"])
async def test_it_survives_what_servers_do(
    kube: FakeKube, client: Client, place: Place, how: str
) -> None:
    async with informed(client, PODS) as informer:
        if how == "cut":
            kube.controls.cut_watches()
        elif how == "expire":
            kube.controls.expire_watches()
        elif how == "compact":
            kube.controls.gone_as_status = True
            kube.controls.cut_watches()
            kube.store.advance(10)
            kube.controls.compact()
        else:
            await kube.controls.restart()
        async with Conversation(kube) as api:
            await api.create(f"/api/v1/namespaces/{place.namespace}/pods", pod("after"))
        await until(informer, place, lambda pods: "after" in pods)


class Backdated:
    """A transport that, once *armed*, lets the next watch go on from version 1: a long absence."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.armed = False

    async def send(self, call: Call) -> bytes:
        return await self._transport.send(call)

    def stream(
        self, call: Call, *, idle_s: float
    ) -> contextlib.AbstractAsyncContextManager[AsyncIterator[bytes]]:
        if self.armed and "resourceVersion" in call.query:
            self.armed = False
            call = replace(call, query={**call.query, "resourceVersion": "1"})
        return self._transport.stream(call, idle_s=idle_s)


async def test_it_lists_again_when_its_version_is_forgotten(
    relayed: Client, relay: Relay, api: Conversation, place: Place
) -> None:
    await gadgets.define_gadgets(api)
    path = GADGETS.format(namespace=place.namespace)
    await api.create(path, gadgets.gadget("before"))
    transport = Backdated(relayed.transport)
    async with informed(Client(transport, relayed.meter), gadgets.RESOURCE) as informer:
        transport.armed = True
        relay.cut()
        await api.create(path, gadgets.gadget("after"))
        await until(informer, place, lambda found: found.keys() == {"before", "after"})
    assert not transport.armed
    assert relayed.meter.value(names.KUBE_LISTS, resource="gadgets", reason="gone") == 1


async def test_a_version_that_is_forgotten_is_an_error_event(
    client: Client, api: Conversation
) -> None:
    await gadgets.define_gadgets(api)
    long_ago = calls.watching(
        gadgets.RESOURCE, Selection(), resource_version="1", timeout_s=PATIENCE_S
    )
    (event,) = await events(client.transport, long_ago, gadgets.RESOURCE.shape, 1)
    assert isinstance(event, Failed)
    assert (event.object.code, event.object.reason) == (410, "Expired")


async def test_everything_that_there_is_comes_first_and_ends_with_a_bookmark(
    client: Client, place: Place
) -> None:
    here = place.namespace
    for name in ("a", "b"):
        await client.write.create(PODS, here, pod(name))
    only_here = Selection(namespace=here)
    call = calls.watching(PODS, only_here, resource_version="", timeout_s=PATIENCE_S)
    first, second, last = await events(client.transport, call, Pod, 3)
    assert {type(first).__name__, type(second).__name__} == {"Added"}
    assert isinstance(last, Bookmark)
    assert last.ends_initial_events
    version = last.object.metadata.resource_version
    await client.write.create(PODS, here, pod("c"))
    call = calls.watching(PODS, only_here, resource_version=version, timeout_s=PATIENCE_S)
    (after,) = await events(client.transport, call, Pod, 1)
    assert type(after).__name__ == "Added"


async def events(
    transport: Transport, call: Call, shape: type[Object], count: int
) -> Sequence[object]:
    """The first *count* events of a watch."""
    decoder, splitter = Decoder(shape), LineSplitter()
    found: list[object] = []
    async with asyncio.timeout(PATIENCE_S), transport.stream(call, idle_s=PATIENCE_S) as chunks:
        async for chunk in chunks:
            for lines in splitter.feed(chunk):
                found += decoder.events(lines)
            if len(found) >= count:
                break
    return found[:count]


@pytest.mark.slow
@pytest.mark.parametrize("kept_bytes", [500_000, 1_500_000])
async def test_the_largest_objects_come_through_a_watch(
    client: Client, place: Place, kept_bytes: int
) -> None:
    # JSON from Go has six bytes for one of these, and what etcd keeps has one.
    value = {"name": "TEXT", "value": "<" * kept_bytes}
    big = pod("big")
    big["spec"]["containers"][0]["env"] = [value]
    async with informed(client, PODS) as informer:
        await client.write.create(PODS, place.namespace, big)
        await until(informer, place, lambda pods: "big" in pods)
        await client.delete(PODS, place.namespace, "big")
        await until(informer, place, lambda pods: "big" not in pods)
        assert informer.undecodable == {}


async def test_a_half_open_connection_is_given_up(relayed: Client, relay: Relay) -> None:
    everything = calls.watching(PODS, Selection(), resource_version="", timeout_s=300)
    async with relayed.transport.stream(everything, idle_s=0.5) as chunks:
        await anext(chunks)
        relay.hold()
        with pytest.raises(UnavailableError, match="no byte for"):
            await drained(chunks)


async def drained(chunks: AsyncIterator[bytes]) -> None:
    async for _ in chunks:
        pass
