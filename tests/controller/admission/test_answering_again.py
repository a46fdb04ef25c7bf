"""A review that says what an earlier one said is answered as by somebody who remembers nothing."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_common.serving.plain_posts import PlainPost
from nemutator_controller.admission.endpoint import OPTED_IN, PATH, Webhook
from nemutator_controller.admission.frames import NotSavedError
from nemutator_controller.admission.known_plans import KnownPlans
from nemutator_controller.admission.recent_stamps import KEPT_S, RecentStamps
from nemutator_controller.admission.reviews import decode, encode
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.patches import apply_patch
from nemutator_controller.mutations.resource_bounds import ResourceBounds, Room
from nemutator_controller.policies.snapshot import snapshot_of

from tests.controller.admission.alike_pods import DOUBLE
from tests.controller.admission.test_asked_again import HALF, cpu_of, stripped
from tests.controller.admission.test_review_texts import OTHER_UID, sent
from tests.controller.admission.test_webhook_handler import TEAM, Admission
from tests.fakes.admission_reviews import UID, review, verified
from tests.fakes.meters import MemoryMeter

ODD = {"match": {"excludedNames": ["odd*"]}, "mode": "Apply", "mutations": [{"labels": {"set": {"odd": "1"}}}]}  # fmt: skip
CPU: dict[str, Any] = {"container": {"resources": {"requests": {"cpu": "100m"}}}}


def at_once(admission: Admission, body: bytes, *, opted_in: bool = False) -> bytes | None:
    webhook = Webhook(admission.answerer, admission.answerer.process)
    answer = webhook.at_once(PlainPost(OPTED_IN if opted_in else PATH, body, "10.0.0.1", None))
    if answer is None:
        return None
    answer.record()
    return answer.body


def known(admission: Admission) -> int:
    return len(admission.answerer.again.known)


def taught(admission: Admission, **changed: Any) -> None:
    """It knows the answer by the third time."""
    for random in ("aaaaa", "bbbbb"):
        assert at_once(admission, sent(random, **changed))
    assert known(admission) == 1


async def test_the_third_pod_of_a_workload_is_answered_without_a_look_at_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    admission = Admission(team=TEAM)
    taught(admission)
    answer = at_once(admission, sent("ccccc", "59", OTHER_UID))
    assert answer is not None
    found = verified(answer, OTHER_UID)
    made = apply_patch({"metadata": {"labels": {"app": "web"}}}, found.patch)
    assert made["metadata"]["labels"] == {"app": "web", "team": "a"}
    stamp = msgspec.json.decode(made["metadata"]["annotations"][names.MUTATION])
    first, _, last = admission.records.kept
    assert stamp["id"] == last["id"] != first["id"]
    assert last == first | {"id": last["id"], "request_uid": OTHER_UID}
    assert last["caller"] == "10.0.0.1"
    meter = admission.meter
    assert meter.value(names.ADMISSION_PLANS, origin="known") == 2
    assert meter.value(names.ADMISSIONS, result="patched") == 3
    assert meter.value(names.ADMISSION_EDITS, verb="labels") == 3
    assert len(meter.observed(names.ADMISSION_SECONDS)) == 3
    assert [record.message for record in caplog.records] == ["pod_decided"] * 3
    lines: list[Any] = [record.args for record in caplog.records]
    assert lines[2] == lines[0] | {names.DECISION: last["id"]}


@pytest.mark.parametrize("earlier", [0, 2])
async def test_nothing_is_logged_before_the_answer_is_sent(
    caplog: pytest.LogCaptureFixture, earlier: int
) -> None:
    """The thread that writes lines would go before it."""
    caplog.set_level("INFO")
    admission = Admission(team=TEAM)
    for random in ("aaaaa", "bbbbb")[:earlier]:
        assert at_once(admission, sent(random))
    caplog.clear()
    webhook = Webhook(admission.answerer, admission.answerer.process)
    answer = webhook.at_once(PlainPost(PATH, sent("ccccc"), "10.0.0.1", None))
    assert answer is not None
    assert len(admission.records.kept) == earlier + 1
    assert not caplog.records
    answer.record()
    assert [record.message for record in caplog.records] == ["pod_decided"]


class FailingMeter(MemoryMeter):
    """It cannot count plans."""

    def count(self, metric: names.Metric, amount: float = 1, /, **labels: str) -> None:
        if metric is names.ADMISSION_PLANS:
            raise ValueError("no room")
        super().count(metric, amount, **labels)


async def test_what_cannot_be_counted_is_answered_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    admission = Admission(team=TEAM, meter=FailingMeter())
    webhook = Webhook(admission.answerer, admission.answerer.process)
    answer = webhook.at_once(PlainPost(PATH, sent("ccccc"), "10.0.0.1", None))
    assert answer is not None
    answer.record()
    assert [record.message for record in caplog.records] == ["decision_not_counted"]


async def test_a_share_is_taken_once_of_a_pod_that_lost_its_stamp() -> None:
    admission = Admission(half=HALF)
    taught(admission, **CPU)
    done: list[bytes] = []
    for random in ("ccccc", "ddddd"):
        body = sent(random, **CPU)
        answer = at_once(admission, body)
        assert answer is not None
        done.append(answer)
        pod = msgspec.json.decode(body)["request"]["object"]
        once = apply_patch(pod, verified(answer, UID).patch)
        assert cpu_of(once) == "50m"
        again = msgspec.json.encode(review(stripped(once), name=""))
        # Who has lost a stamp is answered in the long way.
        assert at_once(admission, again) is None
        response = await admission.answerer.answer(decode(again))
        # That of any pod that is like it: they have the same edits.
        twice = apply_patch(stripped(once), response.operations)
        assert (cpu_of(twice), len(admission.records.kept)) == ("50m", 2 + len(done))


async def test_pods_that_come_with_our_values_are_not_known_once_others_may_have_lost_theirs() -> (
    None
):
    admission = Admission(half=HALF)
    halved: dict[str, Any] = {"container": {"resources": {"requests": {"cpu": "50m"}}}}
    taught(admission, **halved)
    await admission.clock.advance(2 * KEPT_S)
    assert at_once(admission, sent("ccccc", **halved))
    assert at_once(admission, sent("ddddd", **CPU))
    # This may be that pod again.
    assert at_once(admission, sent("ddddd", **halved)) is None


@pytest.mark.parametrize("reason", ["spool_full", "disk"])
async def test_without_a_record_nothing_is_changed(reason: str) -> None:
    admission = Admission(team=TEAM)
    taught(admission)
    admission.records.failure = NotSavedError(reason, "because")
    answer = at_once(admission, sent("ccccc"))
    assert answer is not None
    found = verified(answer, UID)
    assert (found.patch, len(admission.records.kept)) == ([], 2)
    assert "could not be recorded: because" in found.warnings[0]
    assert admission.failures(reason) == 1


async def test_what_has_to_wait_for_the_disk_has_not_happened_yet() -> None:
    long = [
        {"mode": "Apply", "mutations": [{"annotations": {"set": {name: "x" * 4000}}}]}
        for name in ("a", "b")
    ]
    for admission in (Admission(strict=True, team=TEAM), Admission(a=long[0], b=long[1])):
        assert at_once(admission, sent()) is None
        assert admission.records.kept == []
        assert admission.meter.total(names.ADMISSIONS) == 0
        assert (await admission.answerer.answer(decode(sent()))).operations
        assert admission.records.durable == [True]


async def test_what_no_answer_at_once_is_for_is_left_to_others() -> None:
    admission = Admission(team=TEAM)
    webhook = Webhook(admission.answerer, admission.answerer.process, frozenset({"kube"}))
    assert webhook.at_once(PlainPost(PATH, sent(), "", None)) is None
    assert webhook.at_once(PlainPost("/healthz", sent(), "", None)) is None
    assert at_once(admission, b"nonsense") is None
    workload = {"group": "apps", "version": "v1", "resource": "deployments"}
    assert at_once(admission, sent(resource=workload)) is None
    assert admission.meter.total(names.ADMISSIONS) == 0


def room(left: str) -> ResourceBounds:
    return ResourceBounds(rooms=(Room("q", "requests", "cpu", parse_quantity(left)),))


@pytest.mark.parametrize(("policy", "times"), [(TEAM, 3), (HALF, 3), (DOUBLE, 2)])
async def test_what_a_quota_has_left_counts_where_a_policy_says_what_pods_ask_for(
    policy: dict[str, Any], times: int
) -> None:
    """Each pod that is made leaves less of it."""
    admission = Admission(one=policy)
    for number, left in enumerate(("4", "1", "200m", "199m")):
        admission.world.bounds = room(left)
        assert at_once(admission, sent(f"aaaa{number}", **CPU))
    assert admission.meter.value(names.ADMISSION_PLANS, origin="known") == times
    assert known(admission) == (1 if times else 0)


QUESTIONS = st.fixed_dictionaries(
    {
        "random": st.sampled_from(["x7k2p", "bcdfg", "long-one"]),
        "uid": st.sampled_from([UID, OTHER_UID, "7"]),
        "metadata": st.sampled_from(
            [{}, {"labels": {"app": "b"}}, {"annotations": {"nemutator.io/skip": "true"}},
             {"annotations": {"nemutator.io/skip-mutation": "labels"}}, {"name": "odd-1"}]
        ),
        "user": st.sampled_from(["jim", "joe"]),
        "namespace": st.sampled_from(["default", "shop", "new"]),
        "opted_in": st.booleans(),
        "dry_run": st.booleans(),
        "taken_back": st.sampled_from([frozenset(), frozenset({"metadata.labels[team]"})]),
        "bounds": st.sampled_from([ResourceBounds(), *map(room, ("1", "700m", "150m", "50m", "0"))]),
        "policies": st.sampled_from(
            [
                snapshot_of({"team": TEAM, "half": HALF}),
                snapshot_of({"team": TEAM}),
                snapshot_of({"odd": ODD}),
                snapshot_of({"double": DOUBLE}),
            ]
        ),
        "again": st.integers(1, 4),
        "later": st.booleans(),
    }
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(QUESTIONS, max_size=5))
async def test_the_answers_are_those_of_somebody_who_remembers_nothing(
    questions: list[dict[str, Any]],
) -> None:
    remembers, forgets = Admission(), Admission()
    for admission in (remembers, forgets):
        admission.world.namespaces = {"default": {}, "shop": {"nemutator.io/inject": "enabled"}}
    for question in (each for each in questions for _ in range(each["again"])):
        forgets.answerer = replace(
            forgets.answerer, plans=KnownPlans(), stamps=forgets.answerer.stamps
        )
        body = sent(
            question["random"],
            uid=question["uid"],
            metadata=question["metadata"],
            namespace=question["namespace"],
            userInfo={"username": question["user"]},
            dryRun=question["dry_run"],
            **CPU,
        )
        opted_in = question["opted_in"]
        for admission in (remembers, forgets):
            if question["later"]:
                await admission.clock.advance(2 * KEPT_S)
            admission.world.policies = question["policies"]
            admission.world.taken_back = question["taken_back"]
            admission.world.bounds = question["bounds"]
        asked = decode(body, caller="10.0.0.1")
        expected = encode(asked.uid, await forgets.answerer.answer(asked, opted_in=opted_in))
        answer = at_once(remembers, body, opted_in=opted_in)
        if answer is None:
            answer = encode(asked.uid, await remembers.answerer.answer(asked, opted_in=opted_in))
        assert _without_ids(answer) == _without_ids(expected)
    assert [each | {"id": ""} for each in remembers.records.kept] == [
        each | {"id": ""} for each in forgets.records.kept
    ]


def _without_ids(answer: bytes) -> Any:
    """What was decided, where both have counted their decisions in their own way."""
    response = msgspec.json.decode(answer)["response"]
    found = verified(answer, response["uid"])
    for operation in found.patch:
        value: Any = operation.get("value")
        if isinstance(value, dict) and names.MUTATION in value:
            operation["value"] = msgspec.json.decode(value[names.MUTATION])["edits"]
        elif operation["path"].endswith("nemutator.io~1mutation"):
            operation["value"] = msgspec.json.decode(value)["edits"]
    return found, "decision" in response.get("auditAnnotations", {})


async def test_a_sibling_hears_of_it() -> None:
    class Link:
        def __init__(self) -> None:
            self.told: list[bytes] = []

        def tell(self, message: bytes) -> None:
            self.told.append(message)

        def heard(self) -> list[bytes]:
            return []

    admission, link = Admission(team=TEAM), Link()
    admission.answerer = replace(admission.answerer, stamps=RecentStamps(link))
    taught(admission)
    assert at_once(admission, sent("ccccc"))
    assert len(link.told) == 3
