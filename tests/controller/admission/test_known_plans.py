"""A plan that was made for one pod serves the others that are alike, and no other pod."""

import copy
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from nemutator_common import names
from nemutator_controller.admission.known_plans import KnownPlans, circumstances_of
from nemutator_controller.admission.plan_contents import LARGEST
from nemutator_controller.admission.recent_stamps import KEPT_S
from nemutator_controller.admission.reviews import encode
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.advisor import WithoutAdvice
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.patches import apply_patch
from nemutator_controller.mutations.resource_bounds import ResourceBounds, Room
from nemutator_controller.mutations.talkers import Talkers
from nemutator_controller.policies.plans import Situation
from nemutator_controller.policies.snapshot import NO_POLICIES, snapshot_of

from tests.controller.admission.alike_pods import (
    DOUBLE,
    FIXED,
    GUARANTEED,
    HALF,
    HASHED,
    NARROW,
    POLICIES,
    REQUESTED,
    SITUATION,
    TEAM,
    VARIABLE,
    asking_for,
    known,
    left,
    of_another_workload,
    pod,
    revised,
)
from tests.controller.admission.test_webhook_handler import STAMP, Admission


async def test_pods_of_a_workload_share_a_plan_and_have_stamps_of_their_own() -> None:
    admission = Admission(**POLICIES)
    asked = [pod("x7k2p"), pod("bcdfg"), pod("bcdfg")]
    answers = [await admission.ask(each, name="") for each in asked]
    assert known(admission) == 1
    assert admission.meter.value(names.ADMISSION_PLANS, origin="made") == 1
    assert admission.meter.value(names.ADMISSION_PLANS, origin="known") == 2
    for manifest, answer, record in zip(asked, answers, admission.records.kept, strict=True):
        made = apply_patch(manifest, answer.operations)
        stamp = msgspec.json.decode(made["metadata"]["annotations"].pop(STAMP))
        assert stamp["id"] == record["id"] == answer.decision
        assert [each[0] for each in stamp["edits"]] == [each["path"] for each in record["edits"]]
        expected = copy.deepcopy(manifest)
        expected["metadata"]["labels"]["team"] = "a"
        del made["metadata"]["annotations"]
        assert made == expected
    assert len({answer.decision for answer in answers}) == len(asked)


async def test_pods_of_another_revision_share_it_where_no_policy_reads_what_is_new() -> None:
    cases: Any = ((HALF | {"match": {}}, 1), (HASHED, 1), (VARIABLE, 2))
    for spec, plans in cases:
        admission = Admission(one=spec)
        for revision in ("7d9c", "7d9c", "5b8f"):
            await admission.ask(revised(pod(), revision), name="")
        assert known(admission) == plans
        subjects = [each["subject"] for each in admission.records.kept]
        assert {each["owner_name"] for each in subjects} == {"web"}
        begins = ["web-7d9c-", "web-7d9c-", "web-5b8f-"][: 2 if spec is HASHED else 3]
        assert [each["generate_name"] for each in subjects] == begins


async def test_a_store_of_tokens_changes_that_for_pods_with_placeholders_alone() -> None:
    admission = Admission(one=HALF | {"match": {}})
    admission.world.tokens = KnownTokens({"nemu_a": "1"})
    for revision in ("7d9c", "5b8f"):
        await admission.ask(revised(pod(), revision), name="")
    assert known(admission) == 1
    placeholder = revised(pod(), "6a7b")
    placeholder["spec"]["containers"][0]["env"] = [{"name": "A", "value": "nemu_a"}]
    await admission.ask(placeholder, name="")
    assert known(admission) == 2
    edits = admission.records.kept[-1]["edits"]
    assert [each["after"] for each in edits if each["verb"] == "env"] == [["1"]]


@pytest.mark.parametrize(
    ("spec", "changed", "origin"),
    [
        (HALF | {"match": {}}, {}, "known"),
        (HALF | {"match": {"percent": 99}}, {}, "made"),
        (VARIABLE, {}, "made"),
        (HALF | {"match": {}}, {"annotations": {"nemutator.io/env.A": "b/c#d"}, "command": ["a"]}, "made"),
        (HALF | {"match": {}}, {"annotations": {"nemutator.io/on-rotate": "none"}}, "made"),
    ],
)  # fmt: skip
async def test_workloads_that_ask_for_the_same_share_a_plan_where_nobody_reads_what_differs(
    spec: Any, changed: Any, origin: str
) -> None:
    admission = Admission(one=spec)
    await admission.ask(of_another_workload(1, **changed), name="", opted_in=True)
    for number in (2, 3):
        manifest, other = of_another_workload(number, **changed), Admission(one=spec)
        answer = await admission.ask(manifest, name="", opted_in=True)
        for _ in range(number - 1):
            next(other.ids)
        alone = await other.ask(manifest, name="", opted_in=True)
        assert encode("u", answer) == encode("u", alone)
        assert admission.records.kept[-1] == other.records.kept[-1]
    assert admission.meter.value(names.ADMISSION_PLANS, origin=origin) == (
        2 if origin == "known" else 3
    )


@pytest.mark.parametrize(
    ("spec", "first", "second", "of_pod", "origin"),
    [
        (HALF, REQUESTED, {"requests": {"cpu": "300m", "memory": "1Gi"}, "limits": {"memory": "4Gi"}}, {}, "known"),
        (HALF, REQUESTED, {"limits": {"memory": "4"}, "requests": {"memory": "1", "cpu": "1e3"}}, {}, "known"),
        # The init container asks for what one of the others does, if nothing else depends on that.
        (TEAM, REQUESTED, REQUESTED | {"limits": {"memory": "4Gi"}}, {}, "known"),
        # It has no limit that would be one of the fields, it counts as another class, or what is read is more than that.
        (HALF, REQUESTED, {"requests": {"cpu": "300m", "memory": "1Gi"}}, {}, "made"),
        (HALF, REQUESTED | {"limits": {"cpu": "2", "memory": "1Gi"}}, GUARANTEED, {}, "made"),
        (HALF, REQUESTED, {"requests": {"cpu": 1, "memory": "64Mi"}, "limits": {"memory": "1Gi"}}, {}, "made"),
        (HALF, REQUESTED, REQUESTED | {"limits": {"memory": "4Gi"}}, {"resources": {"limits": {"cpu": "8"}}}, "made"),
        (HALF, REQUESTED, REQUESTED | {"requests": {"cpu": "0", "memory": "64Mi"}}, {}, "made"),
        (FIXED, REQUESTED, {"requests": {"cpu": "3", "memory": "64Mi"}, "limits": {"memory": "1Gi"}}, {}, "made"),
    ],
)  # fmt: skip
async def test_workloads_that_ask_for_other_amounts_share_a_plan_where_the_same_is_written(
    spec: Any, first: Any, second: Any, of_pod: Any, origin: str
) -> None:
    policy = spec | {"match": {}}
    for bounds in (ResourceBounds(), ResourceBounds(largest={"cpu": parse_quantity("2000")})):
        admission, other = Admission(one=policy), Admission(one=policy)
        admission.world.bounds = other.world.bounds = bounds
        made = asking_for(1, first, REQUESTED, **of_pod)
        await admission.ask(made, name="", opted_in=True)
        asked = asking_for(2, second, REQUESTED, **of_pod)
        answer = await admission.ask(asked, name="", opted_in=True)
        next(other.ids)
        alone = await other.ask(asked, name="", opted_in=True)
        assert encode("u", answer) == encode("u", alone)
        assert admission.records.kept[-1] == other.records.kept[-1]
        counted = admission.meter.value(names.ADMISSION_PLANS, origin=origin)
        assert counted == (1 if origin == "known" else 2)


async def test_amounts_that_have_no_room_are_thought_about_anew() -> None:
    double = {"resources": {"requests": {"cpu": {"ratio": 2}}}}
    admission = Admission(one={"mode": "Apply", "mutations": [double]})
    admission.world.bounds = ResourceBounds(
        rooms=(Room("q", "requests", "cpu", parse_quantity("3")),)
    )
    asked = [asking_for(each, {"requests": {"cpu": f"{each}"}}) for each in (1, 2)]
    warnings = [(await admission.ask(each, name="")).warnings for each in asked]
    assert list(map(bool, warnings)) == [False, True]
    assert admission.meter.value(names.ADMISSION_PLANS, origin="known") == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"labels": {"app": "web", "tier": "2"}},
        {"annotations": {"note": "a"}},
        {"name": "odd-1"},
        {"ownerReferences": [{"kind": "ReplicaSet", "name": "web-7d9c", "controller": True}]},
    ],
)
async def test_a_pod_that_says_anything_else_has_a_plan_of_its_own(changed: Any) -> None:
    admission, other = Admission(**POLICIES), Admission(**POLICIES)
    await admission.ask(pod(), name="")
    await admission.clock.advance(2 * KEPT_S)
    answer = await admission.ask(pod(**changed), name="")
    next(other.ids)
    assert answer == await other.ask(pod(**changed), name="")


async def test_a_name_that_only_looks_like_the_api_servers_is_part_of_the_pod() -> None:
    admission = Admission(**POLICIES)
    for name in ("long-one", "ab-de", "äöüßx", ""):
        await admission.ask(pod(name), name="")
    assert known(admission) == 4


async def test_what_is_known_of_the_cluster_makes_plans_afresh() -> None:
    admission = Admission(**POLICIES)
    world = admission.world
    for change in (
        {"policies": snapshot_of(POLICIES | {"tier": TEAM})},
        {"advisor": WithoutAdvice("other")},
        {"tokens": KnownTokens({})},
        {"talkers": Talkers({})},
    ):
        for name, value in change.items():
            setattr(world, name, value)
        await admission.ask(pod(), name="", namespace="other")
        assert known(admission) == 1
        await admission.ask(pod(), name="", namespace="default")
        assert known(admission) == 2


async def test_the_circumstances_of_a_pod_count() -> None:
    admission = Admission(**POLICIES)
    await admission.ask(pod(), name="")
    joe = await admission.ask(pod(), name="", userInfo={"username": "joe"})
    jim = await admission.ask(pod(), name="", userInfo={"username": "jim"})
    assert len(jim.operations) > len(joe.operations)
    admission.world.taken_back = frozenset({"metadata.labels[team]"})
    assert not (await admission.ask(pod(), name="")).operations
    admission.world.taken_back = frozenset()
    opted_in = await admission.ask(pod(), name="", opted_in=True)
    assert any("initContainers" in each["path"] for each in opted_in.operations)


async def test_a_plan_that_has_looked_elsewhere_is_not_kept() -> None:
    admission = Admission(**POLICIES)
    admission.world.handlers = {"kata": "runc"}
    manifest = pod(labels={"tier": "kata"})
    assert (await admission.ask(manifest, name="", opted_in=True)).operations
    assert known(admission) == 0
    admission.world.handlers = {"kata": "kata"}
    again = await admission.ask(manifest, name="", opted_in=True)
    assert not any("initContainers" in each["path"] for each in again.operations)


async def test_what_the_user_must_hear_is_decided_each_time() -> None:
    admission = Admission(team=TEAM | {"mode": "Preview"})
    for _ in range(2):
        await admission.ask(pod(), name="")
    assert known(admission) == 0
    assert [each["mode"] for each in admission.records.kept] == ["preview", "preview"]
    admission = Admission(**POLICIES)
    warned = pod(annotations={"nemutator.io/skip-mutation": "nothing-we-know"})
    answers = [await admission.ask(warned, name="") for _ in range(2)]
    assert all(each.warnings for each in answers)
    assert known(admission) == 0


async def test_so_many_are_kept_and_none_that_is_large() -> None:
    admission = Admission(**POLICIES)
    admission.answerer = replace(admission.answerer, plans=KnownPlans(most=3))
    for number in range(5):
        await admission.ask(pod(annotations={"number": f"{number}"}), name="")
    assert known(admission) == 3
    large = pod(annotations={"text": "a" * LARGEST})
    assert (await admission.ask(large, name="")).operations
    assert admission.answerer.plans.key_of(large, SITUATION, NO_POLICIES, ()) is None


async def test_a_patch_that_names_the_random_volume_is_for_its_pod_alone() -> None:
    add = {"name": "kube-api-access-extra", "configMap": "ca", "mountPath": "/ca"}
    admission = Admission(more={"mode": "Apply", "mutations": [{"volumes": {"add": [add]}}]})
    assert (await admission.ask(pod(), name="")).operations
    assert known(admission) == 0


def test_every_field_of_a_situation_is_looked_at() -> None:
    by_identity = {"injector", "advisor", "tokens", "images", "talkers"}
    by_value = {"subject", "namespace_labels", "user", "reversed", "unwanted", "bounds"}
    same_for_all_pods = {"existing", "defaulted", "selector_tokens", "pods_are_made"}
    noted = {"runtime_handler", "digests"}
    assert set(Situation.__struct_fields__) == by_identity | by_value | same_for_all_pods | noted


def test_a_plan_holds_for_the_bounds_that_it_was_made_within() -> None:
    plans = KnownPlans()
    rooms = [ResourceBounds(rooms=(Room("q", "requests", "cpu", parse_quantity(text)),)) for text in "21"]  # fmt: skip
    others = [NARROW, ResourceBounds(largest={"cpu": parse_quantity("2")})]

    def keys(manifest: Any) -> int:
        found = {
            plans.key_of(
                manifest, SITUATION, NO_POLICIES, circumstances_of(None, frozenset(), frozenset(), each)
            )
            for each in (*rooms, *others, ResourceBounds())
        }  # fmt: skip
        return len(found)

    # What there is room for is compared with what a pod asks for, if that is known.
    assert keys(pod()) == len(others) + 1
    odd = pod()
    odd["spec"]["containers"][0]["resources"] = {"requests": {"cpu": 1}}
    assert keys(odd) == len(rooms) + len(others) + 1


async def test_a_plan_is_known_again_while_there_is_room_for_what_it_asks() -> None:
    admission = Admission(double=DOUBLE)
    asked = {"requests": {"cpu": "1"}}
    lefts = "9", "2", "1999m", "2", "999m"
    warned = []
    for number, each in enumerate(lefts):
        admission.world.bounds = left(each)
        warned.append((await admission.ask(asking_for(number, asked), name="")).warnings)
    # What even the pod itself has no room for is not ours to think about.
    assert list(map(bool, warned)) == [False, False, True, False, False]
    assert admission.meter.value(names.ADMISSION_PLANS, origin="known") == 3


async def test_what_no_pod_says_is_left_to_who_plans_for_it() -> None:
    admission, alone = Admission(double=DOUBLE), Admission(double=DOUBLE)
    odd = asking_for(1, {"requests": {"cpu": "1"}}, overhead=["1"])
    assert (await admission.ask(odd, name="")).operations
    for each in (admission, alone):
        each.world.bounds = left("9")
    next(alone.ids)
    assert await admission.ask(odd, name="") == await alone.ask(odd, name="")


def test_what_is_not_shaped_like_a_pod_has_no_plan() -> None:
    plans = KnownPlans()
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    odd_pods: Any = ({}, {"metadata": [], "spec": {}}, {"metadata": {}, "spec": 1})
    for odd in odd_pods:
        assert plans.key_of(odd, SITUATION, NO_POLICIES, ()) is None
    odd_volumes: Any = ({}, "a", [1, {}, {"name": 1}])
    for volumes in odd_volumes:
        manifest = {"metadata": {}, "spec": {"volumes": volumes}}
        assert plans.key_of(manifest, SITUATION, NO_POLICIES, ()) is not None
    assert (
        plans.key_of({"metadata": {}, "spec": {"tolerations": deep}}, SITUATION, NO_POLICIES, ())
        is None
    )
