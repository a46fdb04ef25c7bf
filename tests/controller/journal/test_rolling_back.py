import asyncio
from dataclasses import replace

import pytest
from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.journal.admission_replicas import PATIENCE_S, AdmissionReplicas
from nemutator_controller.journal.live_objects import (
    ChangedError,
    LiveObject,
    ObjectRefusedError,
    UnreachableError,
)
from nemutator_controller.journal.records import Reversal
from nemutator_controller.journal.rollback_plans import MADE_ANEW, NEEDS_NEW_POD, NO_OWNER
from nemutator_controller.journal.rolling_back import (
    KEPT_CHANGING,
    NO_ROOM,
    NOT_HEARD,
    TRIES,
    NotToReverseError,
    RollingBack,
)
from nemutator_controller.journal.sql import MOST_TOMBSTONES
from nemutator_controller.mutations.decisions import Decision, Subject
from nemutator_controller.mutations.stamps import Stamp, written

from tests.fakes.clocks import ManualClock
from tests.fakes.decisions import CPU, EDITS, INIT, NOW, POD, TEAM, changed_pod, decision, kept
from tests.fakes.journals import MemoryJournal, MemoryObjects
from tests.fakes.process import fake_process


class Place:
    """A journal with one decision, and the pod that it is about."""

    def __init__(self, one: Decision | None = None) -> None:
        self.journal = MemoryJournal()
        self.objects = MemoryObjects()
        self.decision = one or decision()
        self.objects.place(POD, changed_pod())
        numbers = iter(range(1, 100))
        self.clock = ManualClock(NOW + 60)
        self.audience = AdmissionReplicas(expected=False, process=fake_process(clock=self.clock))
        self.rolling_back = RollingBack(
            self.journal,
            self.objects,
            replicas=self.audience,
            fresh=lambda: f"v{next(numbers)}",
            process=fake_process(clock=self.clock),
            revisions=self.revisions,
        )
        self.policies: dict[str, str] = {}

    async def revisions(self) -> dict[str, str]:
        return self.policies

    async def roll_back(self, *, evict: bool = False) -> Reversal:
        await self.journal.add([self.decision], writer="a", state="answered")
        return await self.rolling_back.roll_back(self.decision, evict=evict)

    @property
    def live(self) -> LiveObject:
        return self.objects.living["Pod", "team", "web-1"]


def results(reversal: Reversal) -> dict[str, tuple[str, str]]:
    return {each.path: (each.result, each.why) for each in reversal.outcomes}


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


class Marked(Place):
    """A pod that carries a mark."""

    def __init__(self, mark: Stamp) -> None:
        super().__init__()
        pod = changed_pod()
        pod["metadata"]["annotations"] = {names.MUTATION: written(mark)}
        self.objects.place(POD, pod)


async def test_without_a_journal_the_mark_is_enough() -> None:
    place = Marked(Stamp("d7", EDITS[:2]))
    found = await place.rolling_back.stamped(POD)
    assert (found.id, found.edits) == ("d7", EDITS[:2])
    reversal = await place.rolling_back.roll_back(found, evict=False)
    assert reversal.state == "reversed"
    assert "labels" not in place.live.document["metadata"]


async def test_the_journal_knows_better_than_the_mark() -> None:
    place = Marked(Stamp("d1", EDITS[:1]))
    await place.journal.add([place.decision], writer="a", state="answered")
    assert (await place.rolling_back.stamped(POD)).edits == EDITS


async def test_anothers_mark_does_not_reach_the_other() -> None:
    place = Marked(Stamp("d1", EDITS[:1]))
    other = decision(subject=replace(POD, name="api-1"))
    await place.journal.add([other], writer="a", state="answered")
    found = await place.rolling_back.stamped(POD)
    assert found.subject.name == "web-1"
    assert found.edits == EDITS[:1]


async def test_a_pod_that_has_taken_the_name_is_another_one() -> None:
    place = Marked(Stamp("d2", EDITS))
    with pytest.raises(NotToReverseError, match="not there any more"):
        await place.rolling_back.plan(decision(1))


@pytest.mark.parametrize(
    ("mark", "why"),
    [
        (Stamp("d9", None), "too long to say what was changed"),
        (Stamp("", ()), "carries no stamp of ours"),
    ],
)
async def test_a_mark_that_says_too_little_is_named(mark: Stamp, why: str) -> None:
    with pytest.raises(NotToReverseError, match=why):
        await Marked(mark).rolling_back.stamped(POD)


async def test_a_marked_pod_that_is_gone_is_named() -> None:
    place = Place()
    place.objects.living.clear()
    with pytest.raises(NotToReverseError, match="not there any more"):
        await place.rolling_back.stamped(POD)


async def test_nothing_is_evicted_before_admission_knows_what_its_next_pod_is_to_be_without() -> (
    None
):
    place = Place()
    place.audience.asked("admission-1")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(place.roll_back(evict=True))
        await place.clock.until_sleeping()
        assert place.journal.stones
        await place.clock.advance(1)
        place.audience.asked("admission-1")
        await place.clock.advance(1)
        assert place.objects.evicted == []
        place.audience.asked("admission-1")
        await place.clock.advance(1)
    assert task.result().evicted
    assert place.objects.evicted == ["web-1"]


async def test_a_replica_that_does_not_hear_keeps_the_pod() -> None:
    place = Place()
    place.audience.asked("admission-1")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(place.roll_back(evict=True))
        await place.clock.until_sleeping()
        await place.clock.advance(PATIENCE_S + 1)
    assert results(task.result())[INIT] == ("refused", NOT_HEARD)
    assert place.objects.evicted == []


WEB = Subject(
    api_version="apps/v1",
    kind="Deployment",
    namespace="team",
    name="web",
    owner_kind="Deployment",
    owner_name="web",
)


def workload_place() -> Place:
    """A Deployment in a cluster, with a change of its template."""
    place = Place(decision(subject=WEB, edits=EDITS[:2]))
    pod = changed_pod()
    template = {"metadata": {"labels": pod["metadata"]["labels"]}, "spec": pod["spec"]}
    stamp = {names.MUTATION: written(Stamp(place.decision.id, place.decision.edits))}
    metadata = {"name": "web", "annotations": stamp}
    place.objects.place(WEB, {"metadata": metadata, "spec": {"template": template}})
    return place


async def test_a_template_is_taken_back_once_admission_knows_that_it_stays_so() -> None:
    place = workload_place()
    reversal = await place.roll_back()
    assert results(reversal) == {TEAM: ("reversed", ""), CPU: ("reversed", "")}
    made = place.objects.living["Deployment", "team", "web"].document
    template = made["spec"]["template"]
    assert "labels" not in template["metadata"]
    assert template["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "1"
    # Nothing is left of our changes, and nothing says so.
    assert made["metadata"] == {"name": "web"}
    assert {(each.owner_kind, each.path) for each in place.journal.stones} == {
        ("Deployment", TEAM),
        ("Deployment", CPU),
    }


async def test_a_template_stays_as_it_is_while_admission_would_change_it_again() -> None:
    place = workload_place()
    place.audience.asked("one")
    before = place.objects.living["Deployment", "team", "web"]
    async with asyncio.TaskGroup() as group:
        task = group.create_task(place.roll_back())
        await place.clock.until_sleeping()
        await place.clock.advance(PATIENCE_S + 1)
    assert results(task.result()) == {TEAM: ("refused", NOT_HEARD), CPU: ("refused", NOT_HEARD)}
    assert place.objects.living["Deployment", "team", "web"] is before


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
