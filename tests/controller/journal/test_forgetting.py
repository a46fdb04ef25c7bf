"""What was taken back stays so for one policy as it was, and for one workload."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.journal.forgetting import EVERY_S, MOST_ASKED, Forgetting
from nemutator_controller.journal.live_objects import LiveObject, ObjectRefusedError
from nemutator_controller.mutations.decisions import Subject

from tests.fakes.clocks import ManualClock
from tests.fakes.decisions import kept
from tests.fakes.journals import MemoryJournal, MemoryObjects
from tests.fakes.process import fake_process

WEB = Subject(api_version="apps/v1", kind="Deployment", namespace="team", name="web", uid="u1")


class Place:
    def __init__(self, objects: MemoryObjects | None = None) -> None:
        self.journal = MemoryJournal()
        self.objects = objects or MemoryObjects()
        self.policies: dict[str, str] = {"defaults": "r1"}
        self.clock = ManualClock()
        self.forgetting = Forgetting(
            self.journal, self.objects, self.revisions, fake_process(clock=self.clock)
        )

    async def revisions(self) -> Mapping[str, str]:
        return self.policies

    async def left(self) -> set[str]:
        await self.forgetting.forget()
        return {each.tombstone.path for each in await self.journal.tombstones()}


async def test_a_policy_that_wants_something_else_is_followed_again() -> None:
    place = Place()
    await place.journal.add_tombstones(
        [kept("a", policy="defaults", revision="r1"), kept("b", policy="injection")]
    )
    assert await place.left() == {"a", "b"}
    # Without the policy nobody would make that change, and nothing is known while policies are listed.
    place.policies = {}
    assert await place.left() == {"a", "b"}
    place.policies = {"defaults": "r2"}
    assert await place.left() == {"b"}


async def test_another_workload_of_that_name_is_one_of_its_own() -> None:
    place = Place()
    place.objects.place(WEB, {})
    await place.journal.add_tombstones([kept("a", owner_uid="u1"), kept("b")])
    assert await place.left() == {"a", "b"}
    place.objects.place(replace(WEB, uid="u2"), {})
    assert await place.left() == {"b"}
    await place.journal.add_tombstones([kept("a", owner_uid="u2")])
    place.objects.living.clear()
    assert await place.left() == {"b"}


async def test_a_workload_that_cannot_be_seen_keeps_what_was_taken_back() -> None:
    class Refusing(MemoryObjects):
        async def get(self, subject: Subject) -> LiveObject | None:
            raise ObjectRefusedError("Rollout: nobody may read it")

    place = Place(Refusing())
    await place.journal.add_tombstones([kept("a", owner_uid="u1")])
    assert await place.left() == {"a"}


async def test_many_workloads_are_asked_for_in_turn() -> None:
    place = Place()
    stones = [Tombstone("team", "Deployment", f"web-{n}", "a") for n in range(MOST_ASKED * 2)]
    await place.journal.add_tombstones([kept(tombstone=stone, owner_uid="u1") for stone in stones])
    assert await place.forgetting.forget() == MOST_ASKED
    assert await place.forgetting.forget() == MOST_ASKED
    assert await place.journal.tombstones() == []


async def test_it_goes_on_when_the_journal_cannot_be_read() -> None:
    place = Place()
    await place.journal.add_tombstones([kept("a", policy="defaults", revision="r0")])
    place.journal.broken = "busy"
    async with asyncio.TaskGroup() as group:
        task = group.create_task(place.forgetting.run())
        await place.clock.until_sleeping()
        await place.clock.advance(EVERY_S)
        await place.clock.until_sleeping()
        place.journal.broken = None
        assert await place.journal.tombstones() != []
        await place.clock.advance(EVERY_S)
        await place.clock.until_sleeping()
        assert await place.journal.tombstones() == []
        task.cancel()
