import copy
from functools import partial

import pytest
from nemutator_common import names
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.applying import STAYS, WRITER, Applying, policy_revisions
from nemutator_controller.journal.live_objects import ObjectRefusedError
from nemutator_controller.journal.manifests import Applied, ManifestError, manifest_of
from nemutator_controller.journal.reversal_steps import NEWER_SET_IT
from nemutator_controller.journal.rolling_back import RollingBack
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.stamps import stamp_of

from tests.controller.policies.test_verbs import SAMPLES
from tests.fakes.clocks import ManualClock
from tests.fakes.decisions import CPU, NOW, TEAM
from tests.fakes.journals import MemoryJournal, MemoryObjects
from tests.fakes.manifests import Json, deployment, policy
from tests.fakes.process import fake_process


class Place:
    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.objects = MemoryObjects(running=False)
        self.clock = ManualClock(NOW)
        numbers = iter(range(1, 100))
        self.applying = Applying(
            self.journal,
            self.objects,
            fresh=lambda: f"d{next(numbers)}",
            process=fake_process(clock=self.clock),
        )

    async def apply(self, document: Json) -> Applied:
        return await self.applying.apply(copy.deepcopy(document))

    def kept(self, document: Json) -> Json:
        subject = manifest_of(document).subject
        return dict(self.objects.living[subject.kind, subject.namespace, subject.name].document)

    async def journaled(self) -> dict[str, str]:
        entries = await self.journal.entries(namespace=None, name=None, limit=100)
        return {entry.decision.id: entry.state for entry in entries}

    async def take_back(self, decision: str) -> str:
        entry = await self.journal.entry(decision)
        assert entry is not None
        return (await self.rolling_back(decision).roll_back(entry.decision, evict=False)).state

    def rolling_back(self, name: str) -> RollingBack:
        return RollingBack(
            self.journal,
            self.objects,
            replicas=AdmissionReplicas(expected=False, process=fake_process(clock=self.clock)),
            fresh=lambda: f"v-{name}",
            process=fake_process(clock=self.clock),
            revisions=partial(policy_revisions, self.objects),
        )


async def test_a_manifest_is_planned_journaled_and_kept() -> None:
    place = Place()
    assert (await place.apply(policy())).outcome == "created"
    applied = await place.apply(deployment())
    assert (applied.outcome, applied.decision) == ("created", "d1")
    assert [(edit.path, edit.before, edit.after) for edit in applied.edits] == [
        (TEAM, (), ("blue",)),
        (CPU, ("1",), ("250m",)),
    ]
    kept = place.kept(deployment())
    template = kept["spec"]["template"]
    assert template["metadata"]["labels"] == {"app": "web", "team": "blue"}
    assert template["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "250m"
    stamp = stamp_of(kept, "Deployment")
    assert stamp is not None
    assert stamp.id == "d1"
    entry = await place.journal.entry("d1")
    assert entry is not None
    assert (entry.state, entry.writer, entry.decision.at) == ("observed", WRITER, NOW)
    assert entry.decision.subject == manifest_of(deployment()).subject


async def test_the_same_manifest_again_changes_nothing() -> None:
    place = Place()
    await place.apply(policy())
    await place.apply(deployment())
    before = place.kept(deployment())
    for _ in range(2):
        assert (await place.apply(deployment())).outcome == "unchanged"
        assert (await place.apply(policy())).outcome == "unchanged"
    assert place.kept(deployment()) == before
    assert await place.journaled() == {"d1": "observed"}


async def test_what_was_kept_can_be_applied_again_and_is_not_made_smaller() -> None:
    place = Place()
    await place.apply(policy())
    await place.apply(deployment())
    kept = place.kept(deployment())
    assert (await place.apply(kept)).outcome == "unchanged"
    assert place.kept(deployment()) == kept


async def test_a_changed_manifest_is_another_decision() -> None:
    place = Place()
    await place.apply(policy())
    await place.apply(deployment())
    applied = await place.apply(deployment(cpu="2"))
    assert applied.outcome == "changed"
    assert applied.edits[1].after == ("500m",)
    assert len(await place.journaled()) == 2


async def test_without_a_policy_for_it_a_manifest_is_kept_as_it_is() -> None:
    place = Place()
    await place.apply(policy(namespaces=["elsewhere"]))
    applied = await place.apply(deployment())
    assert (applied.outcome, applied.decision, applied.edits) == ("created", "", ())
    assert place.kept(deployment()) == deployment()
    assert await place.journaled() == {}


async def test_a_namespace_can_be_selected_by_its_name() -> None:
    place = Place()
    selector = {"matchLabels": {"kubernetes.io/metadata.name": "default"}}
    await place.apply(policy(namespaceSelector=selector))
    assert (await place.apply(deployment())).edits


async def test_a_preview_is_journaled_and_changes_nothing() -> None:
    place = Place()
    await place.apply(policy(mode="Preview"))
    applied = await place.apply(deployment())
    assert applied.edits == ()
    assert [edit.path for edit in applied.previewed] == [TEAM, CPU]
    assert place.kept(deployment()) == deployment()
    entry = await place.journal.entry("d1-preview")
    assert entry is not None
    assert entry.decision.mode == "preview"


async def test_a_preview_is_shown_again_of_a_manifest_that_has_not_changed() -> None:
    place = Place()
    await place.apply(deployment())
    await place.apply(policy(mode="Preview"))
    applied = await place.apply(deployment())
    assert applied.outcome == "unchanged"
    assert [edit.path for edit in applied.previewed] == [TEAM, CPU]
    assert place.kept(deployment()) == deployment()


@pytest.mark.parametrize(
    ("mode", "begins"), [("Apply", "policy sizes"), ("Preview", "in preview: policy sizes")]
)
async def test_why_advice_is_not_followed_is_said_in_every_mode(mode: str, begins: str) -> None:
    place = Place()
    sizes = policy("sizes", mode=mode)
    amounts = {"resources": {"requests": {"memory": {"advice": True}}}}
    sizes["spec"]["mutations"] = [amounts]
    await place.apply(sizes)
    for outcome in ("created", "unchanged"):
        applied = await place.apply(deployment())
        assert applied.outcome == outcome
        [warning] = applied.warnings
        assert warning.startswith(begins)
        assert "requests.memory: " in warning


async def test_taking_back_restores_the_manifest_and_removes_our_mark() -> None:
    place = Place()
    await place.apply(policy())
    await place.apply(deployment())
    assert await place.take_back("d1") == "reversed"
    assert place.kept(deployment()) == deployment()
    assert await place.take_back("d1") == "reversed"


async def test_taking_back_the_newer_of_two_leaves_the_older_one_on_record() -> None:
    place = Place()
    await place.apply(policy())
    await place.apply(deployment())
    other = policy("tiers")
    other["spec"]["mutations"] = [{"labels": {"add": {"tier": "web"}}}]
    await place.apply(other)
    await place.clock.advance(1)
    once = place.kept(deployment())
    second = await place.apply(once)
    assert [edit.path for edit in second.edits] == ["metadata.labels[tier]"]
    assert await place.take_back(second.decision) == "reversed"
    assert place.kept(deployment()) == once
    await place.apply({**other, "spec": {**other["spec"], "mode": "Preview"}})
    assert (await place.apply(once)).outcome == "unchanged"
    assert await place.take_back("d1") == "reversed"
    assert place.kept(deployment()) == deployment()


async def test_what_any_verb_has_done_is_taken_back() -> None:
    place = Place()
    everything = [{verb: samples[0]} for verb, samples in SAMPLES.items()]
    await place.apply(
        {**policy(), "spec": {"mode": "Apply", "applyTo": "template", "mutations": everything}}
    )
    manifest = deployment()
    manifest["spec"]["template"]["spec"]["volumes"] = [{"name": "tmp", "emptyDir": {"medium": ""}}]
    applied = await place.apply(manifest)
    assert {edit.verb for edit in applied.edits} == set(SAMPLES)
    again = await place.apply(place.kept(manifest))
    assert again.outcome == "unchanged"
    assert await place.take_back("d1") == "reversed"
    assert place.kept(manifest) == manifest


async def test_what_a_newer_mutation_has_set_is_not_blamed_on_somebody_else() -> None:
    place = Place()
    first = policy()
    await place.apply(first)
    await place.apply(deployment())
    first["spec"]["mutations"][0] = {"labels": {"set": {"team": "green"}}}
    await place.apply(first)
    await place.clock.advance(1)
    second = await place.apply(place.kept(deployment()))
    entry = await place.journal.entry("d1")
    assert entry is not None
    planned = await place.rolling_back("x").plan(entry.decision)
    assert {step.edit.path: step.why for step in planned.steps} == {
        TEAM: f"{NEWER_SET_IT}: {second.decision}",
        CPU: "",
    }
    # One after the other they can be taken back.
    assert await place.take_back(second.decision) == "reversed"
    assert await place.take_back("d1") == "reversed"
    assert place.kept(deployment()) == deployment()


async def test_what_was_taken_back_is_not_made_again_until_the_policy_is_another_one() -> None:
    place = Place()
    await place.apply(policy())
    applied = await place.apply(deployment())
    await place.take_back(applied.decision)
    again = await place.apply(deployment())
    assert (again.outcome, again.edits) == ("unchanged", ())
    assert again.warnings == (f"{STAYS}: {CPU}", f"{STAYS}: {TEAM}")
    other = deployment()
    other["metadata"]["name"] = "other"
    assert len((await place.apply(other)).edits) == 2
    changed = policy()
    changed["spec"]["mutations"][0]["labels"]["set"]["team"] = "red"
    await place.apply(changed)
    assert {edit.after for edit in (await place.apply(deployment())).edits} == {("red",), ("250m",)}


async def test_a_foreign_edit_in_the_manifest_stays() -> None:
    place = Place()
    await place.apply(policy())
    await place.apply(deployment())
    edited = copy.deepcopy(place.kept(deployment()))
    edited["spec"]["template"]["metadata"]["labels"]["team"] = "green"
    place.objects.place(manifest_of(deployment()).subject, edited)
    assert await place.take_back("d1") == "partly"
    kept = place.kept(deployment())
    assert kept["spec"]["template"]["metadata"]["labels"]["team"] == "green"
    assert kept["spec"]["template"]["spec"] == deployment()["spec"]["template"]["spec"]
    # What is left of our change keeps its mark.
    assert names.MUTATION in kept["metadata"]["annotations"]


async def test_nothing_is_kept_that_was_not_journaled_first() -> None:
    place = Place()
    await place.apply(policy())
    place.objects.failing = [ObjectRefusedError("full")]
    with pytest.raises(ObjectRefusedError):
        await place.apply(deployment())
    assert await place.journaled() == {"d1": "answered"}


async def test_a_policy_that_cannot_be_read_is_a_warning() -> None:
    place = Place()
    place.objects.unreadable = ["MutationPolicy zz: its file is damaged", "Pod x: too"]
    assert (await place.apply(deployment())).warnings == ("MutationPolicy zz: its file is damaged",)


async def test_what_is_refused_was_never_journaled() -> None:
    place = Place()
    await place.apply(policy())
    place.objects.refusing = "larger than may be"
    with pytest.raises(ObjectRefusedError):
        await place.apply(deployment())
    assert await place.journaled() == {}
    assert len(place.objects.living) == 1


async def test_an_image_that_a_policy_refuses_is_refused_and_not_kept() -> None:
    place = Place()
    refusing = {"image": {"allowed": ["mirror.example/*"], "offenders": "Refuse"}}
    await place.apply({**policy(), "spec": {"mode": "Apply", "mutations": [refusing]}})
    with pytest.raises(ManifestError, match=r"docker\.io/library/app is not an allowed source"):
        await place.apply(deployment())
    assert await place.journaled() == {}
    assert len(place.objects.living) == 1


@pytest.mark.parametrize(
    "document",
    [
        {**deployment(), "kind": "Gadget"},
        {**deployment(), "spec": {"template": []}},
        {**deployment(), "spec": {"template": {"metadata": {"labels": 3}, "spec": {}}}},
    ],
)
async def test_what_is_shaped_wrong_is_refused_and_not_kept(document: Json) -> None:
    place = Place()
    await place.apply(policy())
    with pytest.raises(ManifestError):
        await place.apply(document)
    assert len(place.objects.living) == 1


async def test_what_was_applied_is_listed_and_found() -> None:
    place = Place()
    await place.apply(policy())
    await place.apply(deployment())
    assert [live.subject.name for live in await place.applying.manifests.all()] == [
        "defaults",
        "web",
    ]
    subject = Subject(api_version="", kind="Deployment", namespace="default", name="web")
    assert await place.applying.manifests.get(subject) is not None


async def test_a_share_is_taken_of_the_request_that_a_limit_stands_for_and_can_be_taken_back() -> (
    None
):
    place = Place()
    await place.apply(policy())
    manifest = deployment()
    container = manifest["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": {"cpu": "2"}}
    applied = await place.apply(manifest)
    assert [(edit.path, edit.before, edit.after) for edit in applied.edits][1:] == [
        (CPU, (), ("500m",))
    ]
    assert await place.take_back(applied.decision) == "reversed"
    assert place.kept(manifest) == manifest


async def test_advice_is_said_to_be_followed_in_a_cluster() -> None:
    place = Place()
    advised = {"resources": {"requests": {"memory": {"advice": True}}}}
    await place.apply({**policy(), "spec": {"mode": "Apply", "mutations": [advised]}})
    [warning] = (await place.apply(deployment())).warnings
    assert "advice comes from a brain, which is not asked here" in warning
