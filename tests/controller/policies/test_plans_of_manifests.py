"""The plan for a manifest, which has none of the API server's defaults yet."""

from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.stamps import PATH, merged, written
from nemutator_controller.policies.plans import MutationPlan, plan

from tests.controller.mutations.pods import edit
from tests.controller.policies.planning import policy, situation

LIMITED = {
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "app", "resources": {"limits": {"cpu": "2"}}}]},
}


REQUEST = "containers[name=app].resources.requests.cpu"


def test_a_share_of_a_manifest_is_one_of_what_the_api_server_would_make_of_its_limits() -> None:
    half = policy("half", {"resources": {"requests": {"cpu": {"ratio": 0.5}}}})
    planned = plan(LIMITED, situation(defaulted=False), [half])
    [only] = planned.edits
    assert (only.path, only.before, only.after) == (REQUEST, (), ("1",))
    assert only.reason == "0.5 of 2"
    changed = apply_edits(LIMITED, planned.edits, "Pod")
    assert changed["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    # What a server sends has its defaults already.
    assert plan(LIMITED, situation(), [half]) == MutationPlan()


def test_a_limit_of_a_manifest_is_held_above_the_request_that_it_stands_for() -> None:
    lower = policy("lower", {"resources": {"limits": {"cpu": {"value": "1"}}, "qos": "Change"}})
    assert plan(LIMITED, situation(defaulted=False), [lower]).edits == ()


def test_a_manifest_with_our_stamp_is_planned_from_its_limits_too() -> None:
    half = policy("half", {"resources": {"requests": {"cpu": {"ratio": 0.5}}}})
    edits = plan(LIMITED, situation(defaulted=False), [half]).edits
    stamp = edit(str(PATH), None, written(merged(None, "d1", edits)))
    kept = apply_edits(LIMITED, [*edits, stamp], "Pod")
    assert plan(kept, situation(defaulted=False), [half]).edits == ()


def test_a_preview_of_a_manifest_begins_with_what_is_in_it() -> None:
    half = policy("half", {"resources": {"requests": {"cpu": {"ratio": 0.5}}}}, mode="Preview")
    [only] = plan(LIMITED, situation(defaulted=False), [half]).previewed
    assert (only.before, only.after) == ((), ("1",))
