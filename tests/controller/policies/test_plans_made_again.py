"""What is planned for an object that has been through admission already: nothing more."""

import pytest
from hypothesis import given
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.stamps import Stamp, stamp_of
from nemutator_controller.policies.plans import FORGOTTEN, MutationPlan, plan

from tests.controller.mutations.pods import Json, edit, manifests
from tests.controller.policies.planning import (
    ENABLED,
    INIT,
    done_once,
    labelled,
    paths,
    pod,
    policy,
    situation,
)


def test_a_share_of_what_we_made_is_a_share_of_what_was_there_before() -> None:
    fifth = policy("a", {"resources": {"requests": {"cpu": {"ratio": 0.2}}}})
    done = done_once(pod(), situation(), [fifth])
    assert done["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "200m"
    assert plan(done, situation(), [fifth]).edits == ()
    # A new policy is planned from what was there first, and says what is there now.
    half = policy("a", {"resources": {"requests": {"cpu": {"ratio": 0.5}}}})
    [edit_] = plan(done, situation(), [half]).edits
    assert (edit_.before, edit_.after) == (("200m",), ("500m",))


@pytest.mark.parametrize("foreign", ["500m", "250m", "2", "50m"])
def test_after_a_foreign_edit_to_plan_again_is_to_plan_once(foreign: str) -> None:
    quarter = policy("a", {"resources": {"requests": {"cpu": {"ratio": 0.25}}}})
    done = done_once(pod(), situation(), [quarter])
    requested = "containers[name=app].resources.requests.cpu"
    others = apply_edits(done, [edit(requested, "250m", foreign)], "Pod")
    twice = done_once(others, situation(), [quarter])
    assert plan(twice, situation(), [quarter]).edits == ()
    stamp = stamp_of(twice, "Pod")
    assert stamp is not None
    assert stamp.edits is not None
    # What was ours already still goes back to what was there before us.
    [back] = stamp.edits
    assert back.before == ("1" if foreign == "250m" else foreign,)


def test_what_we_wrote_opens_no_policy_that_was_closed_before() -> None:
    chained = labelled("b", "2", match={"podSelector": {"matchLabels": {"team": "1"}}})
    policies = [labelled("a", "1"), chained]
    assert plan(done_once(pod(), situation(), policies), situation(), policies).edits == ()


def test_what_the_stamp_has_no_room_for_is_not_planned_again() -> None:
    long = {"annotations": {"set": {"a/b": "x" * 4000}}}
    tier = policy("a", {"labels": {"set": {"tier": "web"}}}, long)
    chained = labelled("b", "2", match={"podSelector": {"matchLabels": {"tier": "web"}}})
    share = policy("c", {"resources": {"requests": {"cpu": {"ratio": 0.2}}}})
    preview = labelled("d", "3", mode="Preview")
    for policies in ([tier, chained], [tier, share, preview]):
        done = done_once(pod(ENABLED), situation(), policies)
        assert stamp_of(done, "Pod") == Stamp("id", None)
        assert plan(done, situation(), policies) == MutationPlan(warnings=(FORGOTTEN,))
        assert plan(done, situation(), []) == MutationPlan()


def test_whose_stamp_says_nothing_still_gets_what_it_requires() -> None:
    manifest = pod({"nemutator.io/inject": "required"}, {"nemutator.io/mutation": "nonsense"})
    planned = plan(manifest, situation(), [labelled("a", "1")])
    assert INIT in paths(planned)
    assert "metadata.labels[team]" not in paths(planned)
    assert planned.warnings == (FORGOTTEN,)


def test_a_stamp_of_somebody_else_is_no_reason_to_fail() -> None:
    lie = '{"id":"x","edits":[["containers[name=gone].image",["x"],[],"image","p"]]}'
    manifest = pod(annotations={"nemutator.io/mutation": lie})
    assert paths(plan(manifest, situation(), [labelled("a", "1")])) == ["metadata.labels[team]"]


POLICIES = [
    policy(
        "all",
        {"labels": {"set": {"team": "x"}, "add": {"tier": "y"}}},
        {"annotations": {"set": {"a/b": "c"}}},
        {
            "resources": {
                "requests": {"cpu": {"ratio": 0.5}, "memory": {"value": "1Gi"}},
                "limits": {"memory": {"ratio": 2}},
                "qos": "Change",
            }
        },
    ),
    policy("then", {"resources": {"requests": {"cpu": {"ratio": 3, "max": "2"}}}}),
    policy("tier", {"resources": {"limits": {"cpu": {"value": "1"}}, "qos": "Change"}}),
]


@pytest.mark.slow
@given(manifests())
def test_to_plan_again_is_to_plan_nothing(case: tuple[str, Json]) -> None:
    kind, manifest = case
    here = situation(kind, namespace_labels=ENABLED)
    assert plan(done_once(manifest, here, POLICIES), here, POLICIES).edits == ()
