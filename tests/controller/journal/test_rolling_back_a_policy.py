"""Of a decision that several policies have made, the part of one is taken back."""

import pytest
from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.reversal_steps import NEWER_STANDS, OF_ANOTHER, steps_back
from nemutator_controller.journal.rolling_back import NotToReverseError, RollingBack
from nemutator_controller.mutations.decisions import Decision, Edit
from nemutator_controller.mutations.stamps import Stamp, parse_stamp, written

from tests.fakes.clocks import ManualClock
from tests.fakes.decisions import CPU, NOW, POD, TEAM, changed_pod, decision, edit
from tests.fakes.journals import MemoryJournal, MemoryObjects
from tests.fakes.process import fake_process

MINE = edit(TEAM, after="blue", policy="mine")
THEIRS = edit(CPU, before="1", after="250m", verb="resources", policy="theirs")


def of_both(*more: Edit) -> Decision:
    return decision(edits=(MINE, THEIRS, *more))


class Manifest:
    """A pod's manifest, and a journal with a decision about it."""

    def __init__(self, one: Decision) -> None:
        self.journal, self.objects, self.decision = MemoryJournal(), MemoryObjects(), one
        self.objects.running = False
        pod = changed_pod()
        pod["metadata"]["annotations"] = {"nemutator.io/mutation": written(Stamp("d1", one.edits))}
        self.objects.place(POD, pod)
        process = fake_process(clock=ManualClock(NOW + 60))
        self.rolling_back = RollingBack(
            self.journal,
            self.objects,
            replicas=AdmissionReplicas(expected=False, process=process),
            fresh=iter(["v1", "v2", "v3"]).__next__,
            process=process,
        )

    async def take_back(self, policy: str) -> tuple[str, dict[str, str]]:
        done = await self.rolling_back.roll_back(self.decision, evict=False, policy=policy)
        return done.state, {each.path: each.result for each in done.outcomes}

    def stamp(self) -> Stamp | None:
        found = self.objects.living["Pod", "team", "web-1"].document["metadata"]
        text = found.get("annotations", {}).get("nemutator.io/mutation")
        return None if text is None else parse_stamp(text)


async def test_what_another_policy_has_made_stays_and_is_followed_on() -> None:
    place = Manifest(of_both())
    await place.journal.add([place.decision], writer="a", state="observed")
    assert await place.take_back("mine") == ("partly", {TEAM: "reversed", CPU: "kept"})
    assert place.stamp() == parse_stamp(written(Stamp("d1", (THEIRS,))))
    assert place.journal.stones.keys() == {Tombstone("team", "Deployment", "web", TEAM)}
    # Asked again, there is nothing more of it; what is left is the other one's.
    assert await place.take_back("mine") == ("partly", {TEAM: "already", CPU: "kept"})
    assert await place.take_back("theirs") == ("reversed", {TEAM: "already", CPU: "reversed"})
    assert place.stamp() is None
    assert {kept.tombstone.path for kept in await place.journal.tombstones()} == {TEAM, CPU}


async def test_of_two_with_the_same_value_the_newer_one_goes_first() -> None:
    place = Manifest(of_both())
    older, newer = place.decision, decision(2, edits=(MINE, THEIRS))
    await place.journal.add([older, newer], writer="a", state="observed")
    done = await place.rolling_back.roll_back(older, evict=False)
    assert {each.result for each in done.outcomes} == {"conflict"}
    done = await place.rolling_back.roll_back(newer, evict=False)
    assert {each.result for each in done.outcomes} == {"reversed"}
    done = await place.rolling_back.roll_back(older, evict=False)
    assert {each.result for each in done.outcomes} == {"already"}


async def test_a_rehearsal_is_of_that_policy_too() -> None:
    place = Manifest(of_both())
    rehearsed = await place.rolling_back.rehearse(place.decision, policy="theirs")
    assert [each.result for each in rehearsed.outcomes] == ["kept", "reversed"]


async def test_a_policy_that_has_no_part_in_it_is_told() -> None:
    place = Manifest(of_both())
    with pytest.raises(NotToReverseError, match="the policy other has no part in d1"):
        await place.rolling_back.plan(place.decision, policy="other")


def test_what_another_policy_has_changed_within_a_change_holds_it() -> None:
    app = edit("containers[name=proxy]", after={"name": "proxy", "image": "p:1"}, policy="mine")
    image = edit("containers[name=proxy].image", before="p:1", after="m/p:1", policy="theirs")
    pod = changed_pod()
    pod["spec"]["containers"].append({"name": "proxy", "image": "m/p:1"})
    both = [decision(edits=(app, image))]
    kept, held = steps_back(both, pod, "Pod", running=False, policy="mine")
    assert (kept.verdict, kept.why) == ("kept", OF_ANOTHER)
    assert (held.verdict, held.why) == ("conflict", NEWER_STANDS)
