"""Whatever happens on the way, at rest the informer has what the server has, and so have its readers.

Random writes, cuts, forgotten history, lost bookmarks, restarts and restores go to the fake server's
store, in process; time passes by sleeping only. `make test` runs a hundred cases; `make drill` the
2 000 and more that count.
"""

import asyncio
import random
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.kube.informing import Informer, InformerPace, NotSyncedError
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.subscribing import Resync, Subscription

from tests.controller.kube.pods import pod
from tests.fakes.kube.indexes import by_node
from tests.fakes.kube.kinds import PODS as POD_KIND
from tests.fakes.kube.store import Store
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock
from tests.property.kube.in_process import InProcess

CAPACITY = 8
"""Of the subscriber's queue: small, so that it falls behind often."""

names = st.sampled_from([f"p{number}" for number in range(12)])
steps = st.one_of(
    st.tuples(st.just("put"), names, st.sampled_from(["", "n1", "n2"])),
    st.tuples(st.just("remove"), names),
    st.tuples(st.just("replace"), names),
    st.sampled_from(
        [
            ("cut",),
            ("compact",),
            ("bookmark",),
            ("garbage",),
            ("advance",),
            ("restore",),
            ("restore_silently",),
            ("settle",),
        ]
    ),
    st.tuples(st.just("down"), st.integers(1, 7)),
    st.tuples(st.just("cut_after"), st.integers(0, 6)),
    st.tuples(st.just("turns"), st.integers(1, 30)),
)
cases = st.tuples(
    st.lists(steps, min_size=8, max_size=40), st.booleans(), st.integers(1, 5), st.integers()
)


@dataclass
class Follower:
    """A subscriber that folds; it notices a change that does not fit what it knows."""

    objects: dict[str, Pod] = field(default_factory=dict)

    async def follow(self, subscription: Subscription[Pod]) -> None:
        async for news in subscription:
            if isinstance(news, Resync):
                self.objects = dict(news.snapshot.objects)
                continue
            assert self.objects.get(news.key) == news.before, "a change was lost or invented"
            if news.after is None:
                del self.objects[news.key]
            else:
                self.objects[news.key] = news.after


async def play(script: list[tuple[object, ...]], watch_list: bool, page: int, seed: int) -> None:
    dice = random.Random(seed)
    server, follower, clock = Store(), Follower(), EagerClock()
    transport = InProcess(server, watch_list=watch_list, page=page)
    informer = Informer(
        PODS,
        transport=transport,
        process=replace(fake_process(clock=clock), dice=dice),
        indexes={"node": by_node},
    )
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        with informer.subscribe("follower", capacity=CAPACITY) as subscription:
            tasks = [
                group.create_task(informer.run()),
                group.create_task(follower.follow(subscription)),
            ]
            for step in script:
                await disturb(step, server, transport, dice)
            if ("restore_silently",) in script:
                # Only time tells that one: the watch ends in order, and the hour is over.
                transport.down = 0
                await turns_of_the_loop(200)
                clock.elapsed += 2 * InformerPace().relist_s
                transport.cut()
            await at_rest(informer, follower, server, transport)
            for task in tasks:
                task.cancel()


async def disturb(
    step: tuple[object, ...], server: Store, transport: InProcess, dice: random.Random
) -> None:
    match step:
        case "put", str(name), str(node):
            old = server.get(POD_KIND, "team", name)
            uid = old["metadata"]["uid"] if old else str(dice.random())
            server.put(POD_KIND, pod(name, uid=uid, nodeName=node))
        case "remove", str(name) if server.get(POD_KIND, "team", name):
            server.remove(POD_KIND, "team", name)
        case "replace", str(name) if server.get(POD_KIND, "team", name):
            server.remove(POD_KIND, "team", name)
            server.put(POD_KIND, pod(name, uid=str(dice.random())))
        case ("cut",):
            transport.cut()
        case ("compact",):
            # A watch that has not seen all of it is told 410 in its stream, a new one by status.
            server.compact()
        case ("restore",):
            # As Kubernetes tells to restore: with newer versions, and the past marked as forgotten.
            newer = server.version + dice.randrange(1, 20)
            server.lose_everything()
            server.advance(newer)
            server.compact()
            transport.cut()
        case ("restore_silently",):
            # As nobody should: versions start again, and a watch from a newer one hears nothing.
            server.lose_everything()
        case ("bookmark",):
            transport.bookmark()
        case ("garbage",):
            transport.say(b'{"type":"MODIFIED","object":{"metadata":7}}\n')
        case ("advance",):
            server.advance()
        case "down", int(calls):
            transport.down = calls
            transport.cut()
        case "cut_after", int(lines):
            transport.cut_after = lines
        case "turns", int(turns):
            await turns_of_the_loop(turns)
        case ("settle",):
            await turns_of_the_loop(200)
        case _:
            pass  # nothing there to remove


async def at_rest(
    informer: Informer[Pod], follower: Follower, server: Store, transport: InProcess
) -> None:
    """The world is quiet and whole again; the picture becomes that of the server, and stays so."""
    transport.down, transport.cut_after = 0, None
    for _ in range(5000):
        await asyncio.sleep(0)
        if (
            informer.problem is None
            and same(informer, server)
            and follower.objects == held(informer)
        ):
            break
    await turns_of_the_loop(50)
    assert same(informer, server)
    assert follower.objects == held(informer)
    snapshot = informer.snapshot()
    for node in ("n1", "n2"):
        expected = {
            key for key, manifest in held(informer).items() if manifest.spec.node_name == node
        }
        assert {manifest.metadata.key for manifest in snapshot.by("node", node)} == expected


def held(informer: Informer[Pod]) -> dict[str, Pod]:
    try:
        return dict(informer.snapshot().objects)
    except NotSyncedError:
        return {}


def same(informer: Informer[Pod], server: Store) -> bool:
    truth = {
        f"team/{manifest['metadata']['name']}": (
            manifest["metadata"]["uid"],
            manifest["metadata"]["resourceVersion"],
            manifest["spec"].get("nodeName", ""),
        )
        for manifest in server.all(POD_KIND)
    }
    return truth == {
        key: (manifest.metadata.uid, manifest.metadata.resource_version, manifest.spec.node_name)
        for key, manifest in held(informer).items()
    }


async def turns_of_the_loop(turns: int) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)


@settings(max_examples=100)
@given(cases)
@pytest.mark.slow
def test_at_rest_the_snapshot_is_the_servers_state(
    case: tuple[list[tuple[object, ...]], bool, int, int],
) -> None:
    asyncio.run(play(*case))


@settings(max_examples=2500)
@given(cases)
@pytest.mark.drill
@pytest.mark.timeout(900)
def test_at_rest_the_snapshot_is_the_servers_state_2500_times(
    case: tuple[list[tuple[object, ...]], bool, int, int],
) -> None:
    asyncio.run(play(*case))
