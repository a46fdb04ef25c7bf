"""Whatever is asked and in whatever order: memory saves time, and changes no answer."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.admission.known_plans import KnownPlans
from nemutator_controller.admission.recent_stamps import KEPT_S, RecentStamps
from nemutator_controller.admission.reviews import AdmissionResponse
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
    pod,
    revised,
)
from tests.controller.admission.test_webhook_handler import Admission

QUESTIONS = st.fixed_dictionaries(
    {
        "random": st.sampled_from(["x7k2p", "bcdfg", "long-one"]),
        "labels": st.dictionaries(st.sampled_from(["app", "team", "tier"]), st.sampled_from("ab")),
        "annotations": st.sampled_from(
            [
                {},
                {"nemutator.io/skip-mutation": "labels"},
                {"nemutator.io/skip": "true"},
                {"nemutator.io/env.A": "secret/a/b#c"},
            ]
        ),
        "revision": st.sampled_from(["", "7d9c", "5b8f"]),
        "command": st.sampled_from([[], ["a"]]),
        "user": st.sampled_from(["jim", "joe"]),
        "namespace": st.sampled_from(["default", "shop", "new"]),
        "opted_in": st.booleans(),
        "dry_run": st.booleans(),
        "amounts": st.sampled_from(
            [
                {"requests": {"cpu": cpu, "memory": "1Gi"}, "limits": {"memory": limit}}
                for cpu in ("100m", "3", "250m", "x")
                for limit in ("1Gi", "2Gi")
            ]
            + [{"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}, {"requests": {"cpu": 1}}, {}]
        ),
        "beside": st.sampled_from([{}, {"requests": {"cpu": "2"}}, {"limits": {"memory": "3Gi"}}]),
        "of_pod": st.sampled_from([{}, {}, {"resources": {"requests": {"cpu": "8"}}}]),
        "bounds": st.sampled_from([ResourceBounds(), ResourceBounds(), NARROW, *SHRINKING]),
        "taken_back": st.sampled_from([frozenset(), frozenset({"metadata.labels[team]"})]),
        "policies": st.sampled_from(
            [
                snapshot_of(each)
                for each in (
                    POLICIES,
                    {"half": HALF},
                    {"half": HALF | {"match": {}}},
                    {"double": DOUBLE, "team": TEAM},
                    {"half": HALF | {"match": {}, "mode": "Preview"}, "team": TEAM},
                    {"half": HALF | {"match": {}}, "more": FIXED},
                    {"team": TEAM},
                    {"env": VARIABLE},
                    {"hash": HASHED},
                )
            ]
        ),
    }
)


@settings(max_examples=60, deadline=None)
@given(st.lists(QUESTIONS, max_size=12))
async def test_an_answer_is_the_one_of_somebody_who_remembers_nothing(
    questions: list[dict[str, Any]],
) -> None:
    remembers, forgets = Admission(), Admission()
    for admission in (remembers, forgets):
        admission.world.namespaces = {"default": {}, "shop": {"nemutator.io/inject": "enabled"}}
    for question in questions:
        answers: list[AdmissionResponse] = []
        forgets.answerer = replace(forgets.answerer, plans=KnownPlans(), stamps=RecentStamps())
        for admission in (remembers, forgets):
            # By now the stamp of a pod that is asked about again would be there.
            await admission.clock.advance(2 * KEPT_S)
            admission.world.policies = question["policies"]
            admission.world.taken_back = question["taken_back"]
            admission.world.bounds = question["bounds"]
            manifest = revised(
                pod(
                    question["random"],
                    labels=question["labels"],
                    annotations=question["annotations"],
                ),
                question["revision"],
                question["command"],
            )
            spec = manifest["spec"]
            spec["containers"][0]["resources"] = question["amounts"]
            spec["containers"].append({"name": "beside", "resources": question["beside"]})
            spec |= question["of_pod"]
            answers.append(
                await admission.ask(
                    manifest,
                    name="",
                    namespace=question["namespace"],
                    userInfo={"username": question["user"]},
                    dryRun=question["dry_run"],
                    opted_in=question["opted_in"],
                )
            )
        assert answers[0] == answers[1]
    assert remembers.records.kept == forgets.records.kept


PODS_UNDER_QUOTAS = st.fixed_dictionaries(
    {
        "workload": st.integers(1, 2),
        "asked": st.builds(
            lambda cpu, memory: {"requests": {"cpu": cpu, "memory": memory}},
            st.sampled_from(["100m", "1", "2"]),
            st.sampled_from(["1Gi", "2Gi"]),
        ),
        "beside": st.sampled_from([{}, {"requests": {"cpu": "2"}}]),
        "left": st.sampled_from(SHRINKING),
    }
)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([DOUBLE, FIXED, HALF | {"match": {}}]),
    st.lists(PODS_UNDER_QUOTAS, min_size=2, max_size=12),
)
async def test_quotas_that_have_more_or_less_left_each_time_change_no_answer(
    policy: Any, questions: list[dict[str, Any]]
) -> None:
    remembers, forgets = Admission(one=policy), Admission(one=policy)
    for question in questions:
        forgets.answerer = replace(forgets.answerer, plans=KnownPlans(), stamps=RecentStamps())
        asked = asking_for(question["workload"], question["asked"], question["beside"])
        answers: list[AdmissionResponse] = []
        for admission in (remembers, forgets):
            await admission.clock.advance(2 * KEPT_S)
            admission.world.bounds = question["left"]
            answers.append(await admission.ask(asked, name=""))
        assert answers[0] == answers[1]
    assert remembers.records.kept == forgets.records.kept
