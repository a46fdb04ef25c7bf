from dataclasses import replace

import pytest
from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.journal.live_objects import (
    ChangedError,
    LiveObject,
    ObjectRefusedError,
    UnreachableError,
)
from nemutator_controller.journal.rollback_plans import MADE_ANEW, NEEDS_NEW_POD, NO_OWNER
from nemutator_controller.journal.rolling_back import (
    KEPT_CHANGING,
    NO_ROOM,
    TRIES,
    NotToReverseError,
    RollingBack,
)
from nemutator_controller.journal.sql import MOST_TOMBSTONES
from nemutator_controller.mutations.decisions import Subject

from tests.controller.journal.decided_place import Place, results
from tests.fakes.decisions import CPU, INIT, NOW, POD, TEAM, changed_pod, decision, kept
from tests.fakes.journals import MemoryObjects
from tests.fakes.process import fake_process


async def test_what_a_running_pod_can_take_back_is_taken_back_and_the_rest_is_told() -> None:
    place = Place()
    reversal = await place.roll_back()
    assert results(reversal) == {
        TEAM: ("reversed", ""),
        CPU: ("reversed", ""),
        INIT: ("left", NEEDS_NEW_POD),
    }
    assert (reversal.id, reversal.at, reversal.state) == ("v1", NOW + 60, "partly")
    pod = place.live.document
    assert "labels" not in pod["metadata"]
    assert pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "1"
    assert len(pod["spec"]["initContainers"]) == 1
    assert place.objects.evicted == []
    assert await place.journal.tombstones() == []
    entry = await place.journal.entry("d1")
    assert entry is not None
    assert entry.state == "partly"
    assert await place.journal.reversals("d1") == [reversal]


async def test_an_eviction_leaves_tombstones_for_all_that_is_taken_back() -> None:
    place = Place()
    reversal = await place.roll_back(evict=True)
    assert results(reversal)[INIT] == ("reversed", MADE_ANEW)
    assert (reversal.state, reversal.evicted) == ("reversed", True)
    assert place.objects.evicted == ["web-1"]
    assert place.journal.stones.keys() == {
        Tombstone("team", "Deployment", "web", path) for path in (TEAM, CPU, INIT)
    }
    assert {kept.decision for kept in await place.journal.tombstones()} == {"d1"}


async def test_what_stays_taken_back_is_bound_to_its_workload_and_to_its_policy() -> None:
    place = Place()
    place.policies = {"defaults": "r1"}
    web = Subject(api_version="apps/v1", kind="Deployment", namespace="team", name="web", uid="u1")
    place.objects.place(web, {})
    await place.roll_back(evict=True)
    stones = await place.journal.tombstones()
    assert {(one.policy, one.revision, one.owner_uid) for one in stones} == {
        ("defaults", "r1", "u1")
    }


async def test_the_next_apply_of_a_manifest_does_not_make_it_again() -> None:
    place = Place(decision(subject=replace(POD, owner_kind="", owner_name="")))
    place.objects.running = False
    await place.roll_back()
    assert place.journal.stones.keys() == {
        Tombstone("team", "Pod", "web-1", path) for path in (TEAM, CPU)
    }


async def test_nobody_is_evicted_when_nothing_needs_it() -> None:
    one = decision()
    place = Place(replace(one, edits=one.edits[:2]))
    reversal = await place.roll_back(evict=True)
    assert (reversal.state, reversal.evicted) == ("reversed", False)
    assert place.objects.evicted == []
    assert place.journal.stones == {}


async def test_a_bare_pod_is_never_evicted() -> None:
    place = Place(decision(subject=replace(POD, owner_kind="", owner_name="")))
    reversal = await place.roll_back(evict=True)
    assert results(reversal)[INIT] == ("left", NO_OWNER)
    assert place.objects.evicted == []


async def test_a_foreign_edit_stays_and_is_told() -> None:
    place = Place()
    place.objects.place(POD, changed_pod(team="green"))
    reversal = await place.roll_back(evict=True)
    conflict = reversal.outcomes[0]
    assert (conflict.path, conflict.live, conflict.result) == (TEAM, ("green",), "conflict")
    assert reversal.state == "partly"
    assert place.live.document["metadata"]["labels"] == {"team": "green"}
    # Nor will it be taken from the next pod.
    assert TEAM not in {stone.path for stone in place.journal.stones}


async def test_a_second_time_there_is_nothing_left_to_do() -> None:
    one = decision()
    place = Place(replace(one, edits=one.edits[:2]))
    await place.roll_back()
    before = place.live
    reversal = await place.roll_back()
    assert {result for result, _ in results(reversal).values()} == {"already"}
    assert reversal.state == "reversed"
    assert place.live is before


async def test_an_object_that_changes_meanwhile_is_looked_at_again() -> None:
    place = Place()
    place.objects.failing = [ChangedError("no")] * 2
    reversal = await place.roll_back()
    assert results(reversal)[TEAM] == ("reversed", "")


async def test_what_was_done_before_a_change_stays_done() -> None:
    place = Place()
    changed = ChangedError("no")

    class Faster(MemoryObjects):
        """Somebody else writes between our two writes."""

        async def write(self, live: LiveObject, edits: object, *, resize: bool) -> LiveObject:
            if resize and not self.evicted:
                self.evicted.append("once")
                raise changed
            return await super().write(live, edits, resize=resize)  # type: ignore[arg-type]

    faster = Faster()
    faster.place(POD, changed_pod())
    rolling_back = RollingBack(
        place.journal,
        faster,
        replicas=place.audience,
        fresh=lambda: "v",
        process=fake_process(clock=place.clock),
    )
    reversal = await rolling_back.roll_back(place.decision, evict=False)
    assert results(reversal)[TEAM] == ("reversed", "")
    assert results(reversal)[CPU] == ("reversed", "")


async def test_an_object_that_never_rests_is_left() -> None:
    place = Place()
    place.objects.failing = [ChangedError("no")] * TRIES
    reversal = await place.roll_back()
    assert set(results(reversal).values()) == {("refused", KEPT_CHANGING)}
    assert reversal.state == "observed"


@pytest.mark.parametrize(
    "error", [ObjectRefusedError("not allowed"), UnreachableError("not allowed")]
)
async def test_a_refusal_is_told_and_the_rest_is_tried(error: Exception) -> None:
    place = Place()
    place.objects.failing = [error]
    reversal = await place.roll_back()
    assert results(reversal)[TEAM] == ("refused", "not allowed")
    assert results(reversal)[CPU] == ("reversed", "")


async def test_a_refused_eviction_says_what_it_leaves_behind() -> None:
    place = Place()
    one = decision()
    place = Place(replace(one, edits=one.edits[2:]))
    place.objects.failing = [ObjectRefusedError("a disruption budget")]
    reversal = await place.roll_back(evict=True)
    result, why = results(reversal)[INIT]
    assert result == "refused"
    assert why == "a disruption budget; pods made from now on are without it"
    assert not reversal.evicted
    assert len(place.journal.stones) == 1


async def test_without_room_for_tombstones_nobody_is_evicted() -> None:
    place = Place()
    place.journal.stones = {
        one.tombstone: one for one in (kept(str(number)) for number in range(MOST_TOMBSTONES))
    }
    reversal = await place.roll_back(evict=True)
    assert results(reversal)[INIT] == ("refused", NO_ROOM)
    assert place.objects.evicted == []


async def test_a_pod_whose_name_admission_did_not_know_is_found() -> None:
    place = Place(decision(subject=replace(POD, name="", generate_name="web-")))
    plan = await place.rolling_back.plan(place.decision)
    assert plan.live.subject.name == "web-1"
    assert (await place.roll_back()).state == "partly"


async def test_a_plan_changes_nothing() -> None:
    place = Place()
    before = place.live
    plan = await place.rolling_back.plan(place.decision)
    assert [step.verdict for step in plan.steps] == ["reverse"] * 3
    assert plan.owner == ("Deployment", "web")
    assert place.live is before


async def test_what_has_changed_nothing_cannot_be_taken_back() -> None:
    place = Place(decision(mode="preview"))
    with pytest.raises(NotToReverseError, match="preview only") as caught:
        await place.roll_back()
    assert "apply" in caught.value.remedy


async def test_an_object_that_is_gone_is_named() -> None:
    place = Place()
    place.objects.living.clear()
    with pytest.raises(NotToReverseError, match="Pod team/web-1 is not there any more"):
        await place.roll_back()


async def test_a_rehearsal_says_what_would_be_done_and_changes_nothing() -> None:
    place = Place()
    before = place.live
    rehearsed = await place.rolling_back.rehearse(place.decision)
    assert results(rehearsed) == {
        TEAM: ("reversed", ""),
        CPU: ("reversed", ""),
        INIT: ("left", NEEDS_NEW_POD),
    }
    assert place.live is before
    assert place.journal.stones == {}
    place.objects.failing = [ObjectRefusedError("a quota")]
    assert results(await place.rolling_back.rehearse(place.decision))[TEAM] == (
        "refused",
        "a quota",
    )
