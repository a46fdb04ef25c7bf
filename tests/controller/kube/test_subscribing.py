"""A slow subscriber costs no memory, loses no truth, and is named."""

import asyncio

import pytest
from nemutator_common import names
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.store import Store
from nemutator_controller.kube.subscribing import Resync, Subscribers, Subscription

from tests.controller.kube.test_store import manifest
from tests.fakes.meters import MemoryMeter


async def test_a_slow_subscriber_gets_one_look_instead_of_unbounded_memory() -> None:
    picture: Store[Pod] = Store({})
    meter = MemoryMeter()
    subscribers: Subscribers[Pod] = Subscribers("pods", meter)
    slow = Subscription(picture.snapshot, capacity=10)
    subscribers.add("slow", slow)
    subscribers.begin()
    assert isinstance(await slow.next(), Resync)
    for version in range(1000):
        subscribers.publish(picture.put(manifest("a", version)))
    assert meter.value(names.KUBE_RESYNCS, resource="pods", subscriber="slow") == 1
    look = await slow.next()
    assert isinstance(look, Resync)
    found = look.snapshot.get("team", "a")
    assert found is not None
    assert found.metadata.resource_version == "999"
    subscribers.publish(picture.put(manifest("b", 1000)))
    change = await slow.next()
    assert not isinstance(change, Resync)
    assert change.key == "team/b"


async def test_nothing_comes_before_there_is_a_picture() -> None:
    subscription = Subscription(Store[Pod]({}).snapshot, capacity=1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await subscription.next()


async def test_a_name_subscribes_once() -> None:
    subscribers: Subscribers[Pod] = Subscribers("pods", MemoryMeter())
    subscription = Subscription(Store[Pod]({}).snapshot, capacity=1)
    subscribers.add("one", subscription)
    with pytest.raises(ValueError, match="one subscribes to pods already"):
        subscribers.add("one", subscription)
    subscribers.remove("one")
    subscribers.add("one", subscription)


async def test_changes_come_in_their_order() -> None:
    picture: Store[Pod] = Store({})
    subscription = Subscription(picture.snapshot, capacity=10)
    subscription.begin()
    await subscription.next()
    for version in range(5):
        subscription.publish(picture.put(manifest("a", version)))
    got = []
    async for change in subscription:
        assert not isinstance(change, Resync)
        assert change.after is not None
        got.append(change.after.metadata.resource_version)
        if len(got) == 5:
            break
    assert got == ["0", "1", "2", "3", "4"]


def test_all_that_waits_is_taken_at_once() -> None:
    picture: Store[Pod] = Store({})
    subscription = Subscription(picture.snapshot, capacity=2)
    assert subscription.waiting() == ()
    subscription.begin()
    assert isinstance(subscription.waiting(), Resync)
    assert subscription.waiting() == ()
    for version in range(2):
        subscription.publish(picture.put(manifest("a", version)))
    found = subscription.waiting()
    assert not isinstance(found, Resync)
    assert [each.after and each.after.metadata.resource_version for each in found] == ["0", "1"]
    for version in range(2, 6):
        subscription.publish(picture.put(manifest("a", version)))
    assert isinstance(subscription.waiting(), Resync)
    assert subscription.waiting() == ()
