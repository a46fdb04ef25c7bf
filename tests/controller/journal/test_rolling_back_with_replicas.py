import asyncio

from nemutator_common import names
from nemutator_controller.journal.admission_replicas import PATIENCE_S
from nemutator_controller.journal.rolling_back import NOT_HEARD
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.stamps import Stamp, written

from tests.controller.journal.decided_place import Place, results
from tests.fakes.decisions import CPU, EDITS, INIT, TEAM, changed_pod, decision


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
        ("Deployment", f"template.{TEAM}"),
        ("Deployment", f"template.{CPU}"),
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
