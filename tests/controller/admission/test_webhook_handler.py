"""Plan, prove, record, answer; and whatever goes wrong, the pod is let in as it is."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from nemutator_common import names
from nemutator_controller.admission.frames import NotSavedError
from nemutator_controller.admission.outcomes import Rules
from nemutator_controller.admission.reviews import AdmissionResponse, decode
from nemutator_controller.admission.webhook_handler import WebhookHandler
from nemutator_controller.mutations.injection import Injector
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.patches import apply_patch
from nemutator_controller.mutations.paths import LONGEST_NAME
from nemutator_controller.mutations.pod_sizes import MOST_CONTAINERS
from nemutator_controller.policies.plans import FORGOTTEN

from tests.fakes.admission import MemoryRecords, MemoryWorld
from tests.fakes.admission_reviews import review
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

TEAM = {"mode": "Apply", "mutations": [{"labels": {"set": {"team": "a"}}}]}
POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "app"}]}}
STAMP = "nemutator.io/mutation"


class Admission:
    def __init__(
        self, *, strict: bool = False, meter: MemoryMeter | None = None, **specs: Any
    ) -> None:
        self.world = MemoryWorld(**specs)
        self.records = MemoryRecords()
        self.meter = meter or MemoryMeter()
        self.clock = ManualClock()
        self.ids: Iterator[int] = iter(range(100))
        self.answerer = WebhookHandler(
            self.world,
            self.records,
            Rules(own_namespace="nemutator", injector=Injector("agent:1"), strict=strict),
            fresh=lambda: f"d{next(self.ids)}",
            process=fake_process(clock=self.clock, meter=self.meter),
        )

    async def ask(
        self, manifest: Any = POD, *, opted_in: bool = False, **request: Any
    ) -> AdmissionResponse:
        asked = decode(msgspec.json.encode(review(manifest, **request)))
        return await self.answerer.answer(asked, opted_in=opted_in)

    def failures(self, reason: str) -> float:
        return self.meter.value(names.ADMISSION_FAILURES, reason=reason)


async def test_a_change_is_recorded_stamped_and_answered() -> None:
    admission = Admission(team=TEAM)
    answer = await admission.ask()
    [record] = admission.records.kept
    made = apply_patch(POD, answer.operations)
    assert made["metadata"]["labels"] == {"team": "a"}
    stamp = msgspec.json.decode(made["metadata"]["annotations"][STAMP])
    assert stamp["id"] == record["id"] == answer.decision == "d0"
    assert (record["mode"], record["subject"]["name"]) == ("apply", "web")
    assert [each["path"] for each in record["edits"]] == ["metadata.labels[team]"]
    assert admission.meter.value(names.ADMISSIONS, result="patched") == 1
    assert admission.meter.value(names.ADMISSION_EDITS, verb="labels") == 1
    assert admission.meter.observed(names.ADMISSION_SECONDS) == (0.0,)
    # What came out, asked about again, is left as it is.
    assert (await admission.ask(made)).operations == ()


async def test_what_was_done_to_a_pod_is_one_line_and_nothing_is_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    admission = Admission(team=TEAM | {"match": {"namespaces": ["default"]}})
    await admission.ask({"metadata": {"generateName": "web-"}, "spec": POD["spec"]}, name="")
    await admission.ask(namespace="other")
    (record,) = caplog.records
    assert record.message == "pod_decided"
    assert record.args == {
        names.POD: "default/web-…",
        names.RESULT: "patched",
        names.DECISION: "d0",
        names.COUNT: 1,
    }


async def test_a_policy_may_be_for_those_whom_one_user_creates() -> None:
    admission = Admission(team=TEAM | {"match": {"users": ["jane"]}})
    assert (await admission.ask()).operations
    assert not (await admission.ask(userInfo={"username": "joe"})).operations
    assert not (await admission.ask(userInfo=None)).operations


async def test_before_policies_are_known_a_pod_is_a_failure_and_not_one_without_policies() -> None:
    admission = Admission(team=TEAM)
    admission.world.policies = None
    answer = await admission.ask()
    assert (answer.operations, admission.records.kept) == ((), [])
    assert answer.warnings == ("pod left as it is: no policies have been listed yet",)
    assert admission.failures("policies_unknown") == 1
    assert admission.meter.value(names.ADMISSIONS, result="failed") == 1
    required = {**POD, "metadata": {"labels": {"nemutator.io/inject": "required"}}}
    assert "no policies have been listed yet" in (await admission.ask(required)).refused
    # The cluster itself lives without us.
    assert await admission.ask(namespace="kube-system") == AdmissionResponse()


async def test_a_dry_run_is_answered_and_not_recorded() -> None:
    admission = Admission(team=TEAM)
    assert (await admission.ask(dryRun=True)).operations
    assert admission.records.kept == []
    assert admission.meter.value(names.ADMISSIONS, result="dry_run") == 1


async def test_a_preview_is_recorded_and_not_done() -> None:
    admission = Admission(team=TEAM | {"mode": "Preview"})
    assert (await admission.ask()).operations == []
    [record] = admission.records.kept
    assert record["mode"] == "preview"


async def test_the_disk_is_waited_for_when_the_stamp_cannot_say_all() -> None:
    long = {"mode": "Apply", "mutations": [{"annotations": {"set": {"a": "x" * 4000}}}] * 1}
    more = {"mode": "Apply", "mutations": [{"annotations": {"set": {"b": "x" * 4000}}}] * 1}
    admission = Admission(long=long, more=more)
    answer = await admission.ask()
    assert admission.records.durable == [True]
    stamp = apply_patch(POD, answer.operations)["metadata"]["annotations"][STAMP]
    assert msgspec.json.decode(stamp) == {"id": "d0", "edits": None}
    short = Admission(team=TEAM)
    await short.ask()
    assert short.records.durable == [False]
    strict = Admission(strict=True, team=TEAM)
    await strict.ask()
    assert strict.records.durable == [True]


@pytest.mark.parametrize("reason", ["spool_full", "disk", "disk_slow", "too_large"])
async def test_without_a_record_nothing_is_changed(reason: str) -> None:
    admission = Admission(team=TEAM)
    admission.records.failure = NotSavedError(reason, "because")
    answer = await admission.ask()
    assert (answer.operations, answer.refused) == ((), "")
    assert "could not be recorded: because" in answer.warnings[0]
    assert admission.failures(reason) == 1
    assert admission.meter.value(names.ADMISSIONS, result="failed") == 1


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        (None, "no_object"),
        ([], "no_object"),
        ("text", "no_object"),
        ({"metadata": 3}, "bad_object"),
        ({"metadata": {"labels": "x"}}, "bad_object"),
        ({"metadata": {}, "spec": {"containers": 3}}, ""),
    ],
)
async def test_an_object_that_is_none_is_let_in_for_the_server_to_refuse(
    manifest: Any, reason: str
) -> None:
    admission = Admission(team=TEAM)
    answer = await admission.ask(manifest)
    assert not answer.refused
    if reason:
        assert answer.operations == ()
        assert admission.failures(reason) == 1


@pytest.mark.parametrize(
    "request_",
    [
        {"namespace": "kube-system"},
        {"namespace": "kube-node-lease"},
        {"namespace": "nemutator"},
        {"operation": "UPDATE"},
        {"subResource": "resize"},
        {"subResource": "ephemeralcontainers", "operation": "UPDATE"},
        {"subResource": "status", "operation": "UPDATE"},
    ],
)
async def test_what_is_never_touched(request_: dict[str, Any]) -> None:
    admission = Admission(team=TEAM)
    assert await admission.ask(**request_) == AdmissionResponse()
    assert admission.records.kept == []


async def test_a_namespace_that_only_the_object_names_is_as_good() -> None:
    manifest = POD | {"metadata": {"name": "web", "namespace": "kube-system"}}
    assert await Admission(team=TEAM).ask(manifest, namespace="") == AdmissionResponse()


async def test_the_disk_has_no_more_time_than_the_server() -> None:
    admission = Admission(team=TEAM)
    admission.records.failure = TimeoutError()
    why = "the disk took more than 2 s"
    assert await admission.ask() == AdmissionResponse(warnings=(f"pod left as it is: {why}",))
    assert admission.failures("late") == 1


async def test_mirror_pods_are_kubelets() -> None:
    mirror = POD | {"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}}
    assert await Admission(team=TEAM).ask(mirror) == AdmissionResponse()


async def test_a_namespace_that_is_new_is_injected_when_the_server_says_so() -> None:
    admission = Admission()
    assert (await admission.ask(namespace="new")).operations == ()
    assert admission.failures("namespace_unknown") == 1
    assert (await admission.ask(namespace="new", opted_in=True)).operations


@pytest.mark.parametrize(("wish", "result"), [("enabled", "unchanged"), ("required", "denied")])
async def test_only_who_requires_us_is_kept_out(wish: str, result: str) -> None:
    broken = {"nemutator.io/secret.a": "nonsense"}
    metadata = {"labels": {"nemutator.io/inject": wish}, "annotations": broken}
    admission = Admission()
    answer = await admission.ask(POD | {"metadata": metadata})
    assert answer.operations == ()
    assert bool(answer.refused) is (result == "denied")
    assert admission.meter.value(names.ADMISSIONS, result=result) == 1


async def test_what_was_taken_back_stays_taken_back() -> None:
    admission = Admission(team=TEAM)
    admission.world.taken_back = frozenset({"metadata.labels[team]"})
    assert (await admission.ask()).operations == ()
    # Of the template that was of another policy.
    admission.world.taken_back = frozenset({"template.metadata.labels[team]"})
    assert (await admission.ask()).operations


async def test_a_defect_of_ours_keeps_nobody_out() -> None:
    def broken() -> str:
        raise ZeroDivisionError

    admission = Admission(team=TEAM)
    admission.answerer = WebhookHandler(
        admission.world,
        admission.records,
        Rules(own_namespace="nemutator", injector=None, strict=False),
        fresh=broken,
        process=fake_process(clock=ManualClock(), meter=admission.meter),
    )
    answer = await admission.ask()
    assert (answer.operations, answer.refused) == ((), "")
    assert admission.failures("internal") == 1


@pytest.mark.parametrize("reason", ["spool_full", "internal"])
async def test_who_requires_us_is_kept_out_when_we_fail(reason: str) -> None:
    admission = Admission(team=TEAM)
    admission.records.failure = (
        NotSavedError(reason, "because") if reason == "spool_full" else ZeroDivisionError()
    )
    required = POD | {"metadata": {"labels": {"nemutator.io/inject": "required"}}}
    answer = await admission.ask(required)
    assert "required, and this pod cannot be injected" in answer.refused
    assert admission.failures(reason) == 1
    assert not (await admission.ask()).refused


async def test_nobody_is_kept_out_for_an_object_that_is_none() -> None:
    manifests: list[Any] = [None, [], {"metadata": 3}, {"metadata": {"labels": ["required"]}}]
    for manifest in manifests:
        assert not (await Admission(team=TEAM).ask(manifest)).refused


async def test_a_share_is_not_taken_twice_when_somebody_has_spoilt_the_stamp() -> None:
    half = {"resources": {"requests": {"cpu": {"ratio": 0.5}}}}
    admission = Admission(half={"mode": "Apply", "mutations": [half]})
    container = {"name": "app", "resources": {"requests": {"cpu": "500m"}}}
    spoilt = {"metadata": {"annotations": {STAMP: "spoilt"}}, "spec": {"containers": [container]}}
    answer = await admission.ask(spoilt)
    assert answer.operations == ()
    assert answer.warnings == (FORGOTTEN,)


async def test_a_pod_of_very_many_containers_is_not_thought_about() -> None:
    containers = [{"name": str(number)} for number in range(MOST_CONTAINERS + 1)]
    admission = Admission(team=TEAM)
    assert (await admission.ask({"spec": {"containers": containers}})).operations == ()
    assert admission.failures("too_large") == 1
    most = {"spec": {"containers": containers[1:]}}
    answer = await admission.ask(most, opted_in=True)
    made = apply_patch(most, answer.operations)
    assert made["spec"]["initContainers"]
    assert await admission.ask(made, opted_in=True) == AdmissionResponse()


async def test_a_pod_of_very_many_variables_does_not_hold_up_others() -> None:
    admission = Admission(team=TEAM)
    env = [{"name": f"v{number}", "value": "nemu_x"} for number in range(20_000)]
    answer = await admission.ask({"spec": {"containers": [{"name": "app", "env": env}]}})
    assert answer == AdmissionResponse(warnings=("pod left as it is: more than 1000 env",))
    assert admission.failures("too_large") == 1


async def test_a_container_with_an_endless_name_is_not_thought_about() -> None:
    admission = Admission(team=TEAM)
    answer = await admission.ask(named("x" * (LONGEST_NAME + 1)))
    why = f"a container's name has more than {LONGEST_NAME} characters"
    assert answer == AdmissionResponse(warnings=(f"pod left as it is: {why}",))
    assert admission.failures("too_large") == 1
    assert (await admission.ask(named("x" * LONGEST_NAME))).operations


def named(name: str) -> Any:
    return {"spec": {"containers": [{"name": name}]}}


async def test_a_pod_with_a_placeholder_is_changed_although_no_policy_is_for_it() -> None:
    admission = Admission()
    manifest = {**POD, "metadata": {"name": "web", "labels": {"team": "nemu_label_value_team"}}}
    assert await admission.ask(manifest) == AdmissionResponse()
    admission.world.tokens = KnownTokens({"nemu_label_value_team": "shop"})
    answer = await admission.ask(manifest)
    made = apply_patch(manifest, answer.operations)
    assert made["metadata"]["labels"] == {"team": "shop"}
    [record] = admission.records.kept
    assert [(each["verb"], each["policy"]) for each in record["edits"]] == [("labels", "tokens")]
    assert (await admission.ask(made)).operations == ()


async def test_an_image_with_a_token_is_changed_although_no_policy_is_for_it() -> None:
    admission = Admission()
    pod = {"metadata": {}, "spec": {"containers": [{"name": "app", "image": "ubuntu:14.04"}]}}
    admission.world.tokens = KnownTokens({"nemu_image_debian": "12"})
    assert await admission.ask(pod) == AdmissionResponse()
    admission.world.tokens = KnownTokens({"nemu_image_ubuntu": "20.04"})
    made = apply_patch(pod, (await admission.ask(pod)).operations)
    assert made["spec"]["containers"][0]["image"] == "docker.io/library/ubuntu:20.04"
    assert (await admission.ask(made)).operations == ()


async def test_a_policys_own_tokens_count_without_any_store() -> None:
    tokens = [{"key": "nemu_label_value_team", "value": "shop"}]
    labels = [{"labels": {"set": {"team": "nemu_label_value_team"}}}]
    admission = Admission(team={"mode": "Apply", "tokens": tokens, "mutations": labels})
    made = apply_patch(POD, (await admission.ask(POD)).operations)
    assert made["metadata"]["labels"]["team"] == "shop"
    assert (await admission.ask(made)).operations == ()


async def test_a_placeholder_without_a_value_is_named_and_counted() -> None:
    admission = Admission()
    admission.world.tokens = KnownTokens({})
    manifest = {**POD, "metadata": {"name": "web", "labels": {"team": "nemu_label_value_team"}}}
    answer = await admission.ask(manifest)
    assert answer.operations == ()
    assert "nemu_label_value_team stays as it is: the token store has no" in answer.warnings[0]
    assert admission.meter.value(names.PLACEHOLDERS_UNRESOLVED, reason="unknown") == 1


async def test_an_image_that_cannot_be_pinned_keeps_its_tag_and_is_counted() -> None:
    admission = Admission(pins={"mode": "Apply", "mutations": [{"image": {"pin": ["*"]}}]})
    pod = {"metadata": {}, "spec": {"containers": [{"name": "app", "image": "ubuntu:20.04"}]}}
    answer = await admission.ask(pod)
    [warning] = answer.warnings
    assert warning.startswith("policy pins: containers[name=app].image: not pinned: ")
    assert answer.operations == ()
    assert admission.meter.value(names.IMAGES_UNPINNED, reason="off") == 1
    # A pod that skips the verb is not counted.
    await admission.ask(
        pod | {"metadata": {"annotations": {"nemutator.io/skip-mutation": "image"}}}
    )
    assert admission.meter.value(names.IMAGES_UNPINNED, reason="off") == 1
