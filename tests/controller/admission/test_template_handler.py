"""Templates of workloads: changed when they are new or another, recorded once, and left alone otherwise."""

import copy
from typing import Any

import msgspec
import pytest
from nemutator_common import names
from nemutator_controller.admission.outcomes import Rules
from nemutator_controller.admission.reviews import AdmissionResponse, decode
from nemutator_controller.admission.webhook_handler import WebhookHandler
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.patches import apply_patch
from nemutator_controller.mutations.paths import WORKLOADS

from tests.fakes.admission import MemoryRecords, MemoryWorld
from tests.fakes.admission_reviews import review
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

STAMP = "nemutator.io/mutation"
HALF = {
    "applyTo": "template",
    "mode": "Apply",
    "mutations": [{"resources": {"requests": {"cpu": {"ratio": 0.5}}}}],
}
POD: Any = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}]},
}


def workload(kind: str = "Deployment", template: Any = POD) -> Any:
    spec: Any = {"template": copy.deepcopy(template), "selector": {"matchLabels": {"app": "web"}}}
    if kind == "CronJob":
        spec = {"jobTemplate": {"spec": spec}}
    return {"metadata": {"name": "web"}, "spec": spec}


class Templates:
    def __init__(self, **specs: Any) -> None:
        self.world, self.records, self.meter = MemoryWorld(**specs), MemoryRecords(), MemoryMeter()
        self.ids = iter(range(100))
        self.handler = WebhookHandler(
            self.world,
            self.records,
            Rules(own_namespace="nemutator", injector=None, strict=False),
            fresh=lambda: f"d{next(self.ids)}",
            process=fake_process(clock=ManualClock(), meter=self.meter),
        )

    async def ask(
        self, manifest: Any, old: Any = None, *, kind: str = "Deployment", **request: Any
    ) -> AdmissionResponse:
        group, resource = WORKLOADS[kind]
        asked = review(
            manifest,
            resource={"group": group, "version": "v1", "resource": resource},
            operation="CREATE" if old is None else "UPDATE",
            oldObject=old,
            name="web",
            **request,
        )
        return await self.handler.answer(decode(msgspec.json.encode(asked)))

    async def made(self, manifest: Any, old: Any = None, **request: Any) -> Any:
        """The object as the server stores it."""
        return apply_patch(manifest, (await self.ask(manifest, old, **request)).operations)


def cpu(made: Any) -> str:
    return str(made["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"])


@pytest.mark.parametrize("kind", sorted(WORKLOADS))
async def test_the_template_of_each_kind_is_changed_and_the_workload_is_stamped(kind: str) -> None:
    templates = Templates(half=HALF)
    made = await templates.made(workload(kind), kind=kind)
    spec = made["spec"]["jobTemplate"]["spec"] if kind == "CronJob" else made["spec"]
    assert spec["template"]["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "500m"}}
    # Pods would inherit a stamp in the template, and another id would roll them.
    assert spec["template"]["metadata"] == POD["metadata"]
    [record] = templates.records.kept
    assert msgspec.json.decode(made["metadata"]["annotations"][STAMP])["id"] == record["id"] == "d0"
    subject = record["subject"]
    assert (subject["kind"], subject["name"]) == (kind, "web")
    assert (subject["owner_kind"], subject["owner_name"]) == (kind, "web")
    assert templates.meter.value(names.ADMISSIONS, result="patched") == 1


async def test_a_policy_for_pods_leaves_templates_alone_and_the_other_way_round() -> None:
    for_pods = HALF | {"applyTo": "pod"}
    assert await Templates(half=for_pods).ask(workload()) == AdmissionResponse()
    pods = Templates(half=HALF)
    asked = review({"metadata": {"name": "web"}, "spec": POD["spec"]})
    answer = await pods.handler.answer(decode(msgspec.json.encode(asked)))
    assert answer == AdmissionResponse()


async def test_a_manifest_applied_again_is_the_same_object_and_no_new_decision() -> None:
    templates = Templates(half=HALF)
    stored = await templates.made(workload())
    # kubectl keeps our annotation and writes its value of what it names; others replace it all.
    merged = copy.deepcopy(workload())
    merged["metadata"]["annotations"] = stored["metadata"]["annotations"]
    for again in (merged, workload()):
        assert await templates.made(again, stored) == stored
    assert len(templates.records.kept) == 1


async def test_a_new_value_of_the_manifest_is_a_new_decision() -> None:
    templates = Templates(half=HALF)
    stored = await templates.made(workload())
    changed = copy.deepcopy(stored)
    container = changed["spec"]["template"]["spec"]["containers"][0]
    container["resources"]["requests"]["cpu"] = "2"
    made = await templates.made(changed, stored)
    assert cpu(made) == "1"
    assert [record["id"] for record in templates.records.kept] == ["d0", "d1"]
    assert templates.records.kept[1]["edits"][0]["before"] == ["2"]
    assert templates.records.kept[1]["operation"] == "UPDATE"


async def test_an_update_that_leaves_the_template_alone_rolls_no_pods() -> None:
    templates = Templates(half=HALF)
    before = workload()
    scaled = copy.deepcopy(before)
    scaled["spec"]["replicas"] = 3
    assert await templates.ask(scaled, before) == AdmissionResponse()
    assert templates.records.kept == []


@pytest.mark.parametrize("image", ["", "app:2"])
async def test_an_update_that_strips_our_stamp_gets_it_back_and_no_share_of_a_share(
    image: str,
) -> None:
    templates = Templates(half=HALF)
    stored = await templates.made(workload())
    stripped = copy.deepcopy(stored)
    del stripped["metadata"]["annotations"]
    if image:
        stripped["spec"]["template"]["spec"]["containers"][0]["image"] = image
    made = await templates.made(stripped, stored)
    assert made["metadata"] == stored["metadata"]
    assert cpu(made) == "500m"
    assert len(templates.records.kept) == 1


async def test_a_stamp_goes_with_the_values_that_it_is_about() -> None:
    labels = {"labels": {"set": {"team": "a"}}}
    templates = Templates(half=HALF | {"mutations": [*HALF["mutations"], labels]})
    stored = await templates.made(workload())
    others = Templates(other=HALF | {"match": {"names": ["nobody"]}})
    # As it was sent first, which is what taking it back comes to as well.
    assert await others.made(workload(), stored) == workload()
    # Of what somebody else has changed meanwhile nothing is said any more.
    other = copy.deepcopy(stored)
    del other["metadata"]["annotations"]
    other["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "3"
    made = await others.made(other, stored)
    stamp = msgspec.json.decode(made["metadata"]["annotations"][STAMP])
    assert [path for path, *_ in stamp["edits"]] == ["metadata.labels[team]"]


async def test_the_job_of_a_cron_job_has_its_template_already() -> None:
    templates = Templates(half=HALF)
    job = workload("Job")
    owner = {"kind": "CronJob", "name": "web", "controller": True}
    job["metadata"]["ownerReferences"] = [owner]
    assert await templates.ask(job, kind="Job") == AdmissionResponse()
    job["metadata"]["ownerReferences"] = [owner | {"kind": "Workflow"}]
    assert (await templates.ask(job, kind="Job")).operations
    # The template of a Job that there is cannot be changed.
    assert await templates.ask(job, workload("Job"), kind="Job") == AdmissionResponse()


async def test_what_was_taken_back_for_a_workload_stays_so() -> None:
    templates = Templates(half=HALF)
    templates.world.taken_back = frozenset({"template.containers[name=app].resources.requests.cpu"})
    assert await templates.ask(workload()) == AdmissionResponse()


async def test_a_dry_run_is_answered_and_not_recorded() -> None:
    templates = Templates(half=HALF)
    assert (await templates.ask(workload(), dryRun=True)).operations
    assert templates.records.kept == []


async def test_a_preview_is_recorded_and_not_done() -> None:
    templates = Templates(half=HALF | {"mode": "Preview"})
    answer = await templates.ask(workload())
    assert not answer.operations
    [record] = templates.records.kept
    assert (record["mode"], len(record["edits"])) == ("preview", 1)


async def test_the_pods_of_a_template_say_what_is_to_be_skipped() -> None:
    templates = Templates(half=HALF)
    skipping = copy.deepcopy(POD)
    skipping["metadata"]["annotations"] = {"nemutator.io/skip": "true"}
    assert await templates.ask(workload(template=skipping)) == AdmissionResponse()


async def test_an_offender_in_a_template_is_refused_where_the_policy_says_so() -> None:
    image = {"image": {"allowed": ["mirror.example/*"], "offenders": "Refuse"}}
    templates = Templates(only=HALF | {"mutations": [image]})
    template = {"spec": {"containers": [{"name": "app", "image": "ubuntu"}]}}
    answer = await templates.ask(workload(template=template))
    assert "docker.io/library/ubuntu is not an allowed source" in answer.refused
    assert templates.meter.value(names.IMAGE_OFFENDERS, result="refused") == 1
    assert templates.meter.value(names.ADMISSIONS, result="denied") == 1


async def test_an_image_in_a_template_that_cannot_be_pinned_is_counted() -> None:
    templates = Templates(only=HALF | {"mutations": [{"image": {"pin": ["*"]}}]})
    template = {"spec": {"containers": [{"name": "app", "image": "ubuntu"}]}}
    answer = await templates.ask(workload(template=template))
    assert "not pinned" in answer.warnings[0]
    assert templates.meter.value(names.IMAGES_UNPINNED, reason="off") == 1


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        (None, "no_object"),
        ({"metadata": {}, "spec": {"template": {"spec": {"containers": 3}}}}, "bad_object"),
        ({"metadata": {"annotations": 3}, "spec": {"template": POD}}, "bad_object"),
        ({"metadata": {}, "spec": 3}, "bad_object"),
        (
            workload(template={"spec": {"containers": [{"name": "x"}] * 129}}),
            "too_large",
        ),
    ],
)
async def test_what_is_no_workload_is_let_in_for_the_server_to_refuse(
    manifest: Any, reason: str
) -> None:
    templates = Templates(half=HALF)
    answer = await templates.ask(manifest)
    assert (answer.operations, answer.refused) == ((), "")
    assert templates.meter.value(names.ADMISSION_FAILURES, reason=reason) == 1


async def test_an_old_object_that_is_none_is_a_bad_one_and_no_defect() -> None:
    templates = Templates(half=HALF)
    old = workload(template={"spec": {"containers": []}})
    old["metadata"] = []
    assert not (await templates.ask(workload(), old)).operations
    assert templates.meter.value(names.ADMISSION_FAILURES, reason="bad_object") == 1


async def test_before_policies_are_known_a_workload_is_a_failure() -> None:
    templates = Templates(half=HALF)
    templates.world.policies = None
    answer = await templates.ask(workload())
    assert answer.warnings == ("pod left as it is: no policies have been listed yet",)
    assert await templates.ask(workload(), namespace="kube-system") == AdmissionResponse()


async def test_selectors_by_tokens_leave_placeholders_of_the_template_to_its_pods() -> None:
    templates = Templates(
        names={
            "applyTo": "template",
            "mode": "Apply",
            "mutations": [{"selectors": {"tokens": True}}],
        }
    )
    templates.world.tokens = KnownTokens(
        {
            "nemu_selectors_replace_list": "app",
            "nemu_selector_label_app": "name",
            "nemu_anno_value_owner": "Ada",
        }
    )
    manifest = workload()
    manifest["spec"]["template"]["metadata"]["annotations"] = {"owner": "nemu_anno_value_owner"}
    made = apply_patch(manifest, (await templates.ask(manifest)).operations)
    assert made["spec"]["selector"]["matchLabels"] == {"name": "web"}
    assert made["spec"]["template"]["metadata"] == {
        "labels": {"name": "web"},
        "annotations": {"owner": "nemu_anno_value_owner"},
    }


@pytest.mark.parametrize(
    ("path", "follows"),
    [("template.metadata.labels[team]", False), ("metadata.labels[team]", True)],
)
async def test_what_was_taken_back_of_pods_is_not_taken_back_of_their_template(
    path: str, follows: bool
) -> None:
    labels = {"labels": {"add": {"team": "blue"}}}
    templates = Templates(
        team={"applyTo": "template", "mode": "Apply", "mutations": [labels]},
    )
    templates.world.taken_back = frozenset({path})
    assert bool((await templates.ask(workload())).operations) is follows
