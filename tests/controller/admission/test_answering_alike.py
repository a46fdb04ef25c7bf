"""A review that differs in single texts from an earlier one is answered as by somebody who remembers nothing."""

import json
from dataclasses import replace
from itertools import repeat
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_controller.admission.frames import NotSavedError
from nemutator_controller.admission.known_plans import KnownPlans
from nemutator_controller.admission.recent_stamps import KEPT_S, RecentStamps
from nemutator_controller.admission.reviews import decode, encode
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.patches import apply_patch
from nemutator_controller.mutations.resource_bounds import ResourceBounds
from nemutator_controller.policies.snapshot import snapshot_of

from tests.controller.admission.alike_pods import (
    DOUBLE,
    FIXED,
    HALF,
    HASHED,
    NARROW,
    POLICIES,
    SHRINKING,
    TEAM,
    VARIABLE,
    asking_for,
)
from tests.controller.admission.test_answering_again import at_once
from tests.controller.admission.test_webhook_handler import Admission
from tests.fakes.admission_reviews import UID, review, verified

TWICE: dict[str, Any] = {"twice": DOUBLE, "team": TEAM | {"match": {}}}
ASKED = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "1Gi"}}


def sent(number: int, *asked: Any, namespace: str = "default", **of_pod: Any) -> bytes:
    """About a pod of that workload, whose containers ask for that."""
    manifest = asking_for(number, *(asked or (ASKED,)), **of_pod)
    return msgspec.json.encode(review(manifest, name="", namespace=namespace))


def taught(admission: Admission, *asked: Any, opted_in: bool = False) -> None:
    for number in (1, 2):
        assert at_once(admission, sent(number, *asked), opted_in=opted_in)
    assert len(admission.answerer.alike.known) == 1


def is_alike(admission: Admission, body: bytes, *, opted_in: bool = False) -> bytes | None:
    """The answer, where nobody has looked at *body* for it."""
    answer = admission.answerer.alike.answer(body, "10.0.0.1", opted_in=opted_in)
    if answer is None:
        return None
    answer[1]()
    return answer[0]


async def test_first_pods_of_workloads_are_answered_without_a_look_at_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    admission = Admission(**TWICE)
    taught(admission, opted_in=True)
    other = {"requests": {"cpu": "250m", "memory": "65Mi"}, "limits": {"memory": "2Gi"}}
    body = sent(3, other).replace(UID.encode(), UID.replace("7", "8").encode())
    answer = is_alike(admission, body, opted_in=True)
    assert answer is not None
    found = verified(answer, UID.replace("7", "8"))
    made = apply_patch(msgspec.json.decode(body)["request"]["object"], found.patch)
    [container] = made["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "500m", "memory": "130Mi"}
    [ours] = made["spec"]["initContainers"]
    assert ours["resources"] == {
        "limits": {"memory": "2Gi"},
        "requests": container["resources"]["requests"],
    }
    stamp = msgspec.json.decode(made["metadata"]["annotations"][names.MUTATION])
    _, second, third = admission.records.kept
    assert stamp["id"] == third["id"] != second["id"]
    assert third["caller"] == "10.0.0.1"
    assert third["subject"]["owner_name"] == "shop3"
    assert [each["path"] for each in third["edits"]] == [each[0] for each in stamp["edits"]]
    meter = admission.meter
    assert meter.value(names.ADMISSION_PLANS, origin="known") == 2
    assert meter.value(names.ADMISSIONS, result="patched") == 3
    assert meter.value(names.ADMISSION_EDITS, verb="resources") == 6
    assert len(meter.observed(names.ADMISSION_SECONDS)) == 3
    lines: list[Any] = [record.args for record in caplog.records]
    pod = "default/shop3-7d9c3-…"
    assert lines[2] == lines[1] | {names.DECISION: third["id"], names.POD: pod}


async def test_the_second_pod_of_a_revision_is_learned_from() -> None:
    admission = Admission(**TWICE)
    taught(admission)
    assert is_alike(admission, sent(3))
    assert is_alike(admission, sent(3)) is None
    assert at_once(admission, sent(3))
    assert len(admission.answerer.again.known) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"containers": [{"name": "nemutator-init", "image": "a:1", "resources": ASKED}]},
        {"containers": [{"name": "A", "image": "a:1", "resources": ASKED}]},
        {"containers": [{"name": "a" * 64, "image": "a:1", "resources": ASKED}]},
        {"containers": [{"name": "app-3-0", "image": 'a"1', "resources": ASKED}]},
        {"containers": [{"name": "app-3-0", "image": "ä", "resources": ASKED}]},
        {"containers": [{"name": "app-3-0", "image": "a:1", "resources": {}}]},
        {"volumes": [{"name": "another", "projected": {"sources": []}}]},
        {"hostNetwork": True},
    ],
)
async def test_whatever_may_have_another_plan_is_looked_at(changed: Any) -> None:
    admission = Admission(**TWICE)
    taught(admission)
    assert is_alike(admission, sent(3, **changed)) is None
    assert is_alike(admission, sent(3))


@pytest.mark.parametrize("field", ["cpu", "memory"])
@pytest.mark.parametrize("amount", ["0", "x", "1" * 65, "100 m"])
async def test_odd_amounts_are_answered_as_by_somebody_else(field: str, amount: str) -> None:
    admission, other = Admission(**TWICE), Admission(**TWICE)
    taught(admission)
    next(other.ids)
    next(other.ids)
    odd = {**ASKED, "requests": ASKED["requests"] | {field: amount}}
    assert at_once(admission, sent(3, odd)) == at_once(other, sent(3, odd))
    assert admission.records.kept[2:] == other.records.kept


async def test_what_changes_in_the_cluster_changes_answers() -> None:
    def changes(admission: Admission) -> None:
        admission.world.policies = snapshot_of({"team": TEAM})

    def taken_back(admission: Admission) -> None:
        admission.world.taken_back = frozenset({"metadata.labels[team]"})

    def unwanted(admission: Admission) -> None:
        admission.world.unwanted = frozenset({"team"})

    def opted_in(admission: Admission) -> None:
        admission.world.namespaces = {"default": {"nemutator.io/inject": "enabled"}}

    def tokens(admission: Admission) -> None:
        admission.world.tokens = KnownTokens({"nemu_image_a": "2"})

    def quota(admission: Admission) -> None:
        admission.world.bounds = SHRINKING[0]

    for change in (changes, taken_back, unwanted, opted_in, tokens, quota):
        admission, other = Admission(**TWICE), Admission(**TWICE)
        taught(admission)
        for each in (admission, other):
            change(each)
        next(other.ids)
        next(other.ids)
        assert is_alike(admission, sent(3)) is None
        assert at_once(admission, sent(3)) == at_once(other, sent(3))


async def test_bounds_of_a_namespace_hold_for_other_amounts() -> None:
    """What has no room is left alone, and whoever makes it is told."""
    admission, other = Admission(**TWICE), Admission(**TWICE)
    for each in (admission, other):
        each.world.bounds = ResourceBounds(largest={"cpu": parse_quantity("2")})
    taught(admission)
    next(other.ids)
    next(other.ids)
    for number, cpu in ((3, "900m"), (4, "1500m"), (5, "3")):
        body = sent(number, {**ASKED, "requests": {"cpu": cpu, "memory": "1Mi"}})
        answer = is_alike(admission, body)
        assert answer is not None
        assert answer == at_once(other, body)
    made = admission.records.kept[-1]["edits"]
    assert [each["after"] for each in made if each["path"].endswith("cpu")] == [["2"]]


async def test_a_pod_that_may_have_lost_its_stamp_is_looked_at() -> None:
    admission = Admission(**TWICE)
    taught(admission)
    body = sent(3)
    answer = is_alike(admission, body)
    assert answer is not None
    done = apply_patch(msgspec.json.decode(body)["request"]["object"], verified(answer).patch)
    del done["metadata"]["annotations"]
    stripped = msgspec.json.encode(review(done, name="", namespace="default"))
    assert at_once(admission, stripped) is None
    given_back = await admission.answerer.answer(decode(stripped))
    again = apply_patch(done, given_back.operations)
    assert again["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "200m"
    stamp = msgspec.json.decode(again["metadata"]["annotations"][names.MUTATION])
    assert stamp["id"] == admission.records.kept[2]["id"]


async def test_what_cannot_be_recorded_is_left_to_who_says_so() -> None:
    admission = Admission(**TWICE)
    taught(admission)
    admission.records.failure = NotSavedError("full", "the spool is full")
    assert is_alike(admission, sent(3)) is None
    answer = at_once(admission, sent(3))
    assert answer is not None
    assert not verified(answer).patch


async def test_a_sibling_hears_of_it() -> None:
    class Link:
        def __init__(self) -> None:
            self.told: list[bytes] = []

        def tell(self, message: bytes) -> None:
            self.told.append(message)

        def heard(self) -> list[bytes]:
            return []

    link = Link()
    admission = Admission(**TWICE)
    admission.answerer = replace(admission.answerer, stamps=RecentStamps(link))
    taught(admission)
    assert is_alike(admission, sent(3))
    second, third = (msgspec.json.decode(each) for each in link.told[1:])
    assert [each["after"] for each in third["edits"]] == [each["after"] for each in second["edits"]]
    assert third["origin"][4] == "shop3"


AMOUNTS = st.fixed_dictionaries(
    {},
    optional={
        "requests": st.dictionaries(
            st.sampled_from(["cpu", "memory"]), st.sampled_from(["100m", "1", "2Gi", "0", "3", "x"])
        ),
        "limits": st.dictionaries(
            st.sampled_from(["cpu", "memory"]), st.sampled_from(["1", "4Gi"])
        ),
    },
)
CONTAINERS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["app", "proxy", "web-1", "nemutator-init"]),
        "image": st.sampled_from(["a:1", "b/c:2", 'd"', "nemu_a"]),
    },
    optional={
        "resources": st.sampled_from([ASKED, {"requests": {"cpu": "2", "memory": "3Gi"}}]) | AMOUNTS,
        "env": st.lists(
            st.builds(lambda value: {"name": "A", "value": value}, st.sampled_from(["1", "2", "nemu_a"])),
            min_size=1, max_size=1,
        ),
        "volumeMounts": st.sampled_from(
            [[{"name": f"kube-api-access-{random}", "mountPath": "/a"}] for random in ("x7k2p", "bcdfg")]
            + [[{"name": "other", "mountPath": "/a"}]]
        ),
        "restartPolicy": st.just("Always"),
    },
)  # fmt: skip
PODS = st.fixed_dictionaries(
    {
        "workload": st.sampled_from(["shop", "cart", "job-29000000", "web"]),
        "kind": st.sampled_from(["ReplicaSet", "ReplicaSet", "Job", "StatefulSet", ""]),
        "revision": st.sampled_from(["7d9c", "5b8f"]),
        "labels": st.dictionaries(st.sampled_from(["team", "tier"]), st.sampled_from("ab")),
        "annotations": st.sampled_from(
            [{}, {}, {}, {"nemutator.io/skip-mutation": "resources"}, {"nemutator.io/env.A": "b/c#d"}]
        ),
        "containers": st.lists(CONTAINERS, min_size=1, max_size=2),
        "initContainers": st.lists(CONTAINERS, max_size=1),
        "volumes": st.sampled_from(
            [[], [{"name": "kube-api-access-x7k2p"}], [{"name": "kube-api-access-bcdfg"}], [{"name": "a"}]]
        ),
        "of_pod": st.sampled_from([{}, {}, {"overhead": {"cpu": "1"}}, {"serviceAccountName": "a"}]),
    }
)  # fmt: skip
QUESTIONS = st.fixed_dictionaries(
    {
        "pod": PODS,
        "beside": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "workload": st.sampled_from(["shop", "cart", "job-29000000", "web", "-7d9c", 'a"']),
                    "revision": st.sampled_from(["7d9c", "5b8f", "6c6c"]),
                    "resources": AMOUNTS | st.just(ASKED),
                    "name": st.sampled_from(["app", "proxy", "other", "nemutator-init", "Odd", "a&b"]),
                    "image": st.sampled_from(["a:1", "b/c:2", 'd"', "nemu_a"]),
                },
            ),
            max_size=5,
        ),
        "user": st.sampled_from(["jim", "joe"]),
        "namespace": st.sampled_from(["default", "shop", "new"]),
        "opted_in": st.booleans(),
        "dry_run": st.sampled_from([False, False, False, True]),
        "spaced": st.booleans(),
        "later": st.booleans(),
        "bounds": st.sampled_from(
            [ResourceBounds(), ResourceBounds(), NARROW, SHRINKING[0],
             ResourceBounds(largest={"cpu": parse_quantity("4")})]
        ),
        "taken_back": st.sampled_from([frozenset(), frozenset(), frozenset({"metadata.labels[team]"})]),
        "tokens": st.sampled_from([None, None, KnownTokens({"nemu_a": "1"})]),
    }
)  # fmt: skip
KNOWN_POLICIES = st.sampled_from(
    [
        snapshot_of(each)
        for each in (
            POLICIES,
            TWICE,
            TWICE | {"half": HALF | {"match": {"users": ["jim"]}}},
            {"half": HALF | {"match": {}}},
            {"half": HALF | {"match": {}}, "more": FIXED},
            {"twice": DOUBLE | {"match": {"percent": 50}}},
            {"team": TEAM | {"match": {}}},
            {"env": VARIABLE},
            {"hash": HASHED, "twice": DOUBLE},
        )
    ]
)


def _manifest(pod: dict[str, Any], beside: dict[str, Any]) -> Any:
    found = pod | {key: text for key, text in beside.items() if key in pod}
    workload, revision = found["workload"], found["revision"]
    containers = [dict(each) for each in found["containers"]]
    containers[0] |= {key: beside[key] for key in ("resources", "name", "image") if key in beside}
    owner = {"apiVersion": "apps/v1", "kind": found["kind"], "name": f"{workload}-{revision}"}
    owners = [owner | {"uid": f"u-{workload}", "controller": True}] if found["kind"] else []
    return {
        "metadata": {
            "generateName": f"{workload}-{revision}-",
            "labels": found["labels"] | {"pod-template-hash": revision},
            "annotations": found["annotations"],
            "ownerReferences": owners,
        },
        "spec": {
            "containers": containers,
            "initContainers": found["initContainers"],
            "volumes": found["volumes"],
        }
        | found["of_pod"],
    }


@settings(max_examples=60, deadline=None)
@given(KNOWN_POLICIES, st.lists(QUESTIONS, min_size=1, max_size=3))
async def test_an_answer_is_the_one_of_somebody_who_remembers_nothing(
    policies: Any, questions: list[dict[str, Any]]
) -> None:
    remembers, forgets = Admission(), Admission()
    for admission in (remembers, forgets):
        admission.world.policies = policies
        admission.world.namespaces = {"default": {}, "shop": {"nemutator.io/inject": "enabled"}}
    for number, question in enumerate(questions):
        for beside in ({}, *question["beside"], *question["beside"]):
            remembers.ids, forgets.ids = repeat(number), repeat(number)
            forgets.answerer = replace(
                forgets.answerer, plans=KnownPlans(), stamps=forgets.answerer.stamps
            )
            asked_about = review(
                _manifest(question["pod"], beside),
                name="",
                namespace=question["namespace"],
                userInfo={"username": question["user"]},
                dryRun=question["dry_run"],
            )
            separators = None if question["spaced"] else (",", ":")
            body = json.dumps(asked_about, separators=separators).encode()
            for admission in (remembers, forgets):
                if question["later"]:
                    await admission.clock.advance(2 * KEPT_S)
                admission.world.bounds = question["bounds"]
                admission.world.taken_back = question["taken_back"]
                admission.world.tokens = question["tokens"]
            asked = decode(body, caller="10.0.0.1")
            expected = encode(
                asked.uid, await forgets.answerer.answer(asked, opted_in=question["opted_in"])
            )
            answer = at_once(remembers, body, opted_in=question["opted_in"])
            if answer is None:
                response = await remembers.answerer.answer(asked, opted_in=question["opted_in"])
                answer = encode(asked.uid, response)
            assert answer == expected
    assert remembers.records.kept == forgets.records.kept
    edits = [
        forgets.meter.value(names.ADMISSION_EDITS, verb=verb) for verb in ("resources", "labels")
    ]
    assert edits == [
        remembers.meter.value(names.ADMISSION_EDITS, verb=verb) for verb in ("resources", "labels")
    ]
