"""What is known is kept true from watches, and readiness says what is missing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import pytest
from nemutator_common import names
from nemutator_common.readiness import Readiness
from nemutator_controller.admission.snapshots import SnapshotAdvisor, SnapshotError
from nemutator_controller.admission.watching import WatchedCluster
from nemutator_controller.kube.failures import ForbiddenError, InvalidError, UnknownResourceError
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.resources import NAMESPACES, RUNTIME_CLASSES
from nemutator_controller.policies.objects import MUTATION_POLICIES
from nemutator_controller.policies.snapshot import Policies
from nemutator_controller.updating.at_creation import policy_at_creation
from nemutator_controller.updating.objects import SIZING_POLICIES

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport

NO_WATCH_LIST = InvalidError("watch", "sendInitialEvents is forbidden")
NOT_SERVED = UnknownResourceError("list mutationpolicies", "the server does not serve this API")
TEAM = {"mode": "Apply", "mutations": [{"labels": {"set": {"team": "a"}}}]}


def manifest(name: str, version: int, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "uid": name, "resourceVersion": str(version)}
    return {"metadata": metadata | more.pop("metadata", {}), **more}


def listed(*items: dict[str, Any]) -> bytes:
    head = {"kind": "List", "metadata": {"resourceVersion": "9"}}
    return msgspec.json.encode(head | {"items": items})


def event(kind: str, item: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"type": kind, "object": item}) + b"\n"


LISTED_NONE = listed()


class Play:
    def __init__(
        self,
        policies: list[Said | list[Said]],
        namespaces: Sequence[Said | list[Said]],
        runtime_classes: Sequence[Said] = (),
        sizing: Sequence[Said | list[Said]] = (NO_WATCH_LIST, LISTED_NONE),
    ) -> None:
        self.clock, self.meter, self.health = ManualClock(), MemoryMeter(), Readiness()
        self.transports = tuple(
            ScriptedTransport(*script) for script in (policies, namespaces, runtime_classes, sizing)
        )
        eager = fake_process(clock=EagerClock(), meter=self.meter)
        policies_informer = Informer(MUTATION_POLICIES, transport=self.transports[0], process=eager)
        namespaces_informer = Informer(NAMESPACES, transport=self.transports[1], process=eager)
        classes_informer = Informer(RUNTIME_CLASSES, transport=self.transports[2], process=eager)
        self.watched = WatchedCluster(
            policies_informer,
            namespaces_informer,
            classes_informer,
            process=fake_process(readiness=self.health, clock=self.clock, meter=self.meter),
            sizing_informer=Informer(SIZING_POLICIES, transport=self.transports[3], process=eager),
            sizing_policy=policy_at_creation,
        )
        assert self.watched.sizing_informer is not None
        self.loops = (
            policies_informer.run,
            namespaces_informer.run,
            classes_informer.run,
            self.watched.sizing_informer.run,
        )


@contextlib.asynccontextmanager
async def played(
    policies: list[Said | list[Said]],
    namespaces: Sequence[Said | list[Said]],
    runtime_classes: Sequence[Said] = (),
    sizing: Sequence[Said | list[Said]] = (NO_WATCH_LIST, LISTED_NONE),
) -> AsyncIterator[Play]:
    """After both scripts, with one look at the informers since."""
    play = Play(policies, namespaces, runtime_classes or [NO_WATCH_LIST, listed()], sizing)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run()) for run in play.loops]
        tasks.append(group.create_task(play.watched.follow()))
        tasks.append(group.create_task(play.watched.follow_sizing()))
        async with asyncio.timeout(60):
            for transport in play.transports:
                await transport.over.wait()
        tasks.append(group.create_task(play.watched.check()))
        await play.clock.until_sleeping()
        yield play
        for task in tasks:
            task.cancel()


NAMESPACE = listed(manifest("team-a", 1, metadata={"labels": {"env": "prod"}}))
SYNCED: list[Said] = [NO_WATCH_LIST, NAMESPACE]


async def test_policies_and_namespaces_are_followed() -> None:
    script: list[Said | list[Said]] = [
        NO_WATCH_LIST,
        listed(manifest("a", 1, spec=TEAM), manifest("b", 2, spec={"mutations": []})),
        [
            event("ADDED", manifest("c", 10, spec=TEAM)),
            event("DELETED", manifest("a", 11, spec=TEAM)),
            event("MODIFIED", manifest("b", 12, spec="text")),
        ],
    ]
    async with played(script, SYNCED) as play:
        assert play.watched.policies is not None
        assert [policy.name for policy in play.watched.policies.sound] == ["c"]
        assert list(play.watched.policies.faulty) == ["b"]
        assert play.meter.value(names.POLICIES, state="sound") == 1
        assert play.meter.value(names.POLICIES, state="faulty") == 1
        assert play.watched.namespace_labels("team-a") == {"env": "prod"}
        assert play.watched.namespace_labels("new") is None
        assert play.health.problems() == {}


async def test_runtime_classes_are_known_by_their_handlers() -> None:
    none: list[Said | list[Said]] = [NO_WATCH_LIST, listed()]
    script: list[Said] = [NO_WATCH_LIST, listed(manifest("untrusted", 1, handler="runsc"))]
    async with played(none, SYNCED, script) as play:
        assert play.watched.runtime_handler("untrusted") == "runsc"
        assert play.watched.runtime_handler("nothing") is None


async def test_admission_that_may_not_read_runtime_classes_is_ready_without() -> None:
    none: list[Said | list[Said]] = [NO_WATCH_LIST, listed()]
    refused = ForbiddenError("list runtimeclasses", "forbidden to us")
    async with played(none, SYNCED, [NO_WATCH_LIST, refused]) as play:
        assert play.watched.runtime_handler("kata") is None
        assert play.health.problems() == {}


async def test_without_the_definition_there_are_no_policies_and_that_is_fine() -> None:
    refusals: list[Said | list[Said]] = [NOT_SERVED, NOT_SERVED]
    async with played(refusals, SYNCED) as play:
        assert play.watched.policies == Policies()
        assert play.health.problems() == {}


async def test_before_policies_are_listed_they_are_unknown_and_not_none() -> None:
    refused: list[Said | list[Said]] = [ForbiddenError("list mutationpolicies", "forbidden to us")]
    async with played(refused, SYNCED) as play:
        assert play.watched.policies is None
        assert set(play.health.problems()) == {"policies"}
    none: list[Said | list[Said]] = [NO_WATCH_LIST, listed()]
    async with played(none, SYNCED) as play:
        assert play.watched.policies == Policies()


async def test_without_namespaces_it_is_not_ready_and_says_why() -> None:
    down = ForbiddenError("list namespaces", "forbidden to us")
    none: list[Said | list[Said]] = [NO_WATCH_LIST, listed()]
    async with played(none, [NO_WATCH_LIST, down]) as play:
        assert play.watched.namespace_labels("team-a") is None
        assert set(play.health.problems()) == {"namespaces"}
        assert "forbidden to us" in play.health.problems()["namespaces"]


async def test_what_was_taken_back_is_found_by_its_workload() -> None:
    play = Play([], [])
    play.watched.tombstones = {("default", "Deployment", "web"): frozenset({"metadata.labels[a]"})}
    assert play.watched.reversed("default", "Deployment", "web") == {"metadata.labels[a]"}
    assert play.watched.reversed("default", "Deployment", "db") == frozenset()
    assert set(play.health.problems()) == {"namespaces", "policies"}


async def test_a_moment_is_another_one_after_whatever_may_change_an_answer() -> None:
    bounds = 0
    none: list[Said | list[Said]] = [NO_WATCH_LIST, listed()]
    changed = event("MODIFIED", manifest("team-a", 10, metadata={"labels": {"env": "test"}}))
    fresh = Play([], []).watched.moment(with_bounds=False)
    async with played(none, SYNCED) as play, played(none, [*SYNCED, [changed]]) as further:
        watched = play.watched
        assert fresh < watched.moment(with_bounds=False) < further.watched.moment(with_bounds=False)
        watched.bounds_moment = lambda: bounds
        moments = [watched.moment(with_bounds=True)]
        assert watched.moment(with_bounds=True) == moments[0]
        bounds += 1
        moments.append(watched.moment(with_bounds=True))
        await watched.take_tombstones(b'{"tombstones": []}')
        moments.append(watched.moment(with_bounds=True))
        await watched.take_unwanted(b'{"items": []}')
        moments.append(watched.moment(with_bounds=True))
        assert len(set(moments)) == len(moments)


async def test_the_brains_snapshots_are_answered_from_and_nonsense_changes_nothing() -> None:
    play = Play([], [])
    stone = {"namespace": "a", "owner_kind": "Deployment", "owner_name": "web", "path": "p"}
    await play.watched.take_tombstones(msgspec.json.encode({"tombstones": [stone]}))
    await play.watched.take_advice(b'{"items": []}')
    advisor = play.watched.advisor
    assert advisor == SnapshotAdvisor({})
    for take in (play.watched.take_tombstones, play.watched.take_advice):
        with pytest.raises(SnapshotError):
            await take(b"nonsense")
    assert play.watched.advisor is advisor
    assert play.watched.reversed("a", "Deployment", "web") == {"p"}


async def test_what_sizing_policies_say_of_new_pods_comes_after_all_else() -> None:
    policies: list[Said | list[Said]] = [NO_WATCH_LIST, listed(manifest("z", 1, spec=TEAM))]
    sizing: list[Said | list[Said]] = [
        NO_WATCH_LIST,
        listed(manifest("b", 1, spec={"mode": "InPlace"}), manifest("off", 2, spec={})),
        [
            event("ADDED", manifest("a", 10, spec={"mode": "Initial"})),
            event("ADDED", manifest("c", 11, spec={"mode": "Evict"})),
            event("DELETED", manifest("c", 12, spec={"mode": "Evict"})),
            event("MODIFIED", manifest("b", 13, spec={"mode": "nonsense"})),
        ],
    ]
    async with played(policies, SYNCED, sizing=sizing) as play:
        assert play.watched.policies is not None
        assert [(each.name, each.alone) for each in play.watched.policies.sound] == [
            ("z", False),
            ("SizingPolicy/a", True),
            ("SizingPolicy/off", True),
        ]
