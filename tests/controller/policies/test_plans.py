"""The plan for an object: policies by name, then injection, previews apart, and all of it once."""

from typing import Any

import pytest
from nemutator_controller.mutations.advisor import NoAdvice, WorkloadRef
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.paths import PathError
from nemutator_controller.policies.model import Policy, PolicyError, policy_of
from nemutator_controller.policies.plans import MutationPlan, plan

from tests.controller.mutations.pods import Json
from tests.controller.policies.planning import (
    ENABLED,
    INIT,
    done_once,
    labelled,
    paths,
    pod,
    policy,
    situation,
    with_image,
)

OFFENDING = {"image": {"allowed": ["mirror.example/*"], "offenders": "Refuse"}}


def test_an_offender_is_refused_only_when_its_policy_says_so_and_is_applied() -> None:
    refusing = policy("a", OFFENDING)
    why = "policy a: containers[name=app].image: docker.io/library/ubuntu is not an allowed source"
    planned = plan(with_image("ubuntu"), situation(), [refusing])
    assert (planned.refused, planned.warnings) == (why, ())
    assert plan(with_image("mirror.example/a"), situation(), [refusing]) == MutationPlan()
    warning = policy("a", {"image": {"allowed": ["mirror.example/*"]}})
    planned = plan(with_image("ubuntu"), situation(), [warning])
    assert (planned.refused, planned.warnings) == ("", (why,))
    preview = plan(with_image("ubuntu"), situation(), [policy("a", OFFENDING, mode="Preview")])
    assert (preview.refused, preview.warnings) == ("", ())
    assert [each.result for each in preview.offenders] == ["previewed"]


def test_a_policy_is_for_images_as_they_were_before_it() -> None:
    move = {"image": {"move": [{"from": "docker.io", "to": "m.example"}]}}
    mirror = policy("a", move, match={"images": ["docker.io/*"]})
    planned = plan(with_image("ubuntu"), situation(), [mirror])
    assert [each.after for each in planned.edits] == [("m.example/library/ubuntu",)]
    assert plan(with_image("a.example/b"), situation(), [mirror]) == MutationPlan()
    done = done_once(with_image("ubuntu"), situation(), [mirror])
    assert plan(done, situation(), [mirror]).edits == ()


def test_a_sidecar_is_changed_by_the_policies_before_its_own_too() -> None:
    env = {"env": {"add": [{"name": "ZONE", "value": "eu"}]}}
    move = {"image": {"move": [{"from": "docker.io", "to": "m.example"}]}}
    sidecar = {"sidecars": {"add": [{"name": "proxy", "image": "proxy:1"}]}}
    policies = [policy("a", env, move), policy("b", sidecar)]
    planned = plan(pod(), situation(), policies)
    [edit] = [each for each in planned.edits if each.path == "initContainers[name=proxy]"]
    assert edit.after[0]["image"] == "m.example/library/proxy:1"
    assert edit.after[0]["env"] == [{"name": "ZONE", "value": "eu"}]
    previewed = [policy("a", env), policy("b", sidecar, mode="Preview")]
    assert len(plan(pod(), situation(), previewed).previewed) == 1


@pytest.mark.parametrize("mode", ["Apply", "Preview"])
def test_a_sidecar_that_mounts_a_volume_is_there_where_the_volume_is(mode: str) -> None:
    mounts = [{"name": "certs", "mountPath": "/certs"}]
    sidecar = {"sidecars": {"add": [{"name": "p", "image": "p:1", "volumeMounts": mounts}]}}
    volume = {"volumes": {"add": [{"name": "certs", "configMap": "ca", "mountPath": "/a"}]}}
    both = plan(pod(), situation(), [policy("a", sidecar, volume, mode=mode)])
    changes = both.edits or both.previewed
    assert "initContainers[name=p]" in [each.path for each in changes]
    assert not both.warnings
    alone = plan(pod(), situation(), [policy("a", sidecar, mode=mode)])
    assert (alone.edits, alone.previewed) == ((), ())
    [warning] = alone.warnings or alone.preview_warnings
    assert "initContainers[name=p]: left alone: the pod has no volume certs" in warning


SHARES = [{"resources": {"requests": {"cpu": {"ratio": ratio}}}} for ratio in (0.5, 0.1)]


def test_a_share_is_one_of_what_the_pod_asks_for_whatever_policies_before_it_have_made_of_that() -> (
    None
):
    half, tenth = SHARES
    [edit] = plan(pod(), situation(), [policy("a", half), policy("b", tenth)]).edits
    assert (edit.after, edit.reason) == (("100m",), "0.1 of 1; in place of what policy a writes")
    done = done_once(pod(), situation(), [policy("a", half), policy("b", tenth)])
    assert plan(done, situation(), [policy("a", half), policy("b", tenth)]).edits == ()


def test_a_previewed_share_is_one_of_what_the_pod_asks_for_too() -> None:
    half, tenth = SHARES
    policies = [policy("a", half), policy("b", tenth, mode="Preview")]
    [edit] = plan(pod(), situation(), policies).previewed
    assert (edit.before, edit.after) == (("500m",), ("100m",))


def test_of_a_request_that_only_a_policy_has_written_no_share_is_taken() -> None:
    written = {"resources": {"requests": {"memory": {"value": "1Gi"}}}}
    halved = {"resources": {"requests": {"memory": {"ratio": 0.5}}}}
    [edit] = plan(pod(), situation(), [policy("a", written), policy("b", halved)]).edits
    assert edit.after == ("1Gi",)


def test_without_policies_and_wishes_nothing_is_done() -> None:
    assert plan(pod(), situation(), []) == MutationPlan()


def test_of_two_policies_the_later_name_wins() -> None:
    planned = plan(pod(), situation(), [labelled("a", "1"), labelled("b", "2")])
    [only] = planned.edits
    assert (only.after, only.policy) == (("2",), "b")
    assert only.reason == "in place of what policy a writes"


def test_of_two_policies_that_agree_or_one_that_goes_on_nothing_is_said() -> None:
    twice = policy("a", {"labels": {"set": {"team": "1"}}}, {"labels": {"set": {"team": "2"}}})
    for policies in ([labelled("a", "1"), labelled("b", "1")], [twice]):
        [only] = plan(pod(), situation(), policies).edits
        assert (only.policy, only.reason) == ("a", "")


def test_of_fields_that_two_policies_fight_over_one_plan_is_made_and_it_stays() -> None:
    fighting = [
        policy("a", {"labels": {"set": {"team": "1"}}}, {"annotations": {"set": {"x": "1"}}}),
        policy("b", {"labels": {"remove": ["team"]}}, {"annotations": {"set": {"x": "2"}}}),
    ]
    done = done_once(pod(), situation(), fighting)
    assert "team" not in (done["metadata"]["labels"] or {})
    assert done["metadata"]["annotations"]["x"] == "2"
    assert plan(done, situation(), fighting).edits == ()


PRIVILEGED = {"fields": [{"field": "hostNetwork", "operator": "In", "values": ["true"]}]}


def test_a_policy_is_for_fields_as_they_were_before_it() -> None:
    own = [{"field": "containers[*].image", "operator": "In", "values": ["ubuntu"]}]
    move = {"image": {"move": [{"from": "docker.io", "to": "m.example"}]}}
    mirror = policy("a", move, match={"fields": own})
    assert plan(with_image("debian"), situation(), [mirror]) == MutationPlan()
    done = done_once(with_image("ubuntu"), situation(), [mirror])
    assert done["spec"]["containers"][0]["image"] == "m.example/library/ubuntu"
    assert plan(done, situation(), [mirror]).edits == ()


@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
def test_conditions_on_fields_are_on_the_pod_of_a_workload_too(kind: str) -> None:
    manifest = pod()
    manifest["spec"]["hostNetwork"] = True
    other = pod()
    if kind != "Pod":
        manifest, other = {"spec": {"template": manifest}}, {"spec": {"template": other}}
    chosen = policy("a", {"labels": {"set": {"x": "1"}}}, match=PRIVILEGED)
    assert paths(plan(manifest, situation(kind), [chosen])) == ["metadata.labels[x]"]
    assert plan(other, situation(kind), [chosen]) == MutationPlan()


def with_tokens(name: str, value: str, mode: str = "Apply") -> Policy:
    spec = {
        "mode": mode,
        "tokens": [{"key": "nemu_label_value_team", "value": value}],
        "mutations": [{"labels": {"set": {"team": "nemu_label_value_team"}}}],
    }
    return policy_of(name, spec)


def test_a_policys_own_tokens_go_before_those_of_the_store() -> None:
    store = KnownTokens({"nemu_label_value_team": "stored", "nemu_anno_value_x": "kept"})
    manifest = pod(None, {"x": "nemu_anno_value_x"})
    [first, second] = plan(manifest, situation(tokens=store), [with_tokens("a", "own")]).edits
    assert {first.after, second.after} == {("own",), ("kept",)}
    [only] = plan(pod(), situation(), [with_tokens("a", "1"), with_tokens("b", "2")]).edits
    assert only.after == ("2",)


def test_without_a_store_a_placeholder_that_no_policy_knows_stays_and_is_named() -> None:
    manifest = pod({"team": "nemu_label_value_other"})
    planned = plan(manifest, situation(), [labelled("a", "nemu_label_value_team")])
    assert planned.warnings == ()
    own = policy_of(
        "a",
        {
            "mode": "Apply",
            "tokens": [{"key": "nemu_label_value_team", "value": "x"}],
            "mutations": [{"annotations": {"set": {"y": "1"}}}],
        },
    )
    planned = plan(manifest, situation(), [own])
    assert paths(planned) == ["metadata.annotations[y]"]
    assert "no policy for this pod has such a token" in planned.warnings[0]


@pytest.mark.parametrize(
    ("tokens", "fault"),
    [
        ([{"key": "team", "value": "x"}], "spec.tokens[0].key: expected a key like nemu_"),
        ([{"key": "nemu_a", "value": ""}], "spec.tokens[0].value"),
        ([{"key": "nemu_a", "value": "x" * 1025}], "spec.tokens[0].value"),
        ([{"key": "nemu_a"}], "spec.tokens[0]"),
        ([{"key": "nemu_a", "value": "b"}] * 65, "spec.tokens"),
    ],
)
def test_tokens_of_a_policy_that_cannot_be_are_named(tokens: Json, fault: str) -> None:
    with pytest.raises(PolicyError) as error:
        policy_of("a", {"tokens": tokens, "mutations": [{"labels": {"set": {"a": "b"}}}]})
    assert fault in str(error.value)


def test_a_preview_is_on_top_of_what_is_applied() -> None:
    policies = [labelled("a", "1"), labelled("b", "2", mode="Preview")]
    planned = plan(pod(), situation(), policies)
    assert [each.after for each in planned.edits] == [("1",)]
    assert [(each.before, each.after) for each in planned.previewed] == [(("1",), ("2",))]


def test_a_pod_that_wants_no_patch_gets_previews_only() -> None:
    manifest = pod(ENABLED, {"nemutator.io/skip-mutation": "patch"})
    planned = plan(manifest, situation(), [labelled("a", "1")])
    assert planned.edits == ()
    assert {"metadata.labels[team]", INIT} <= {each.path for each in planned.previewed}


def test_verbs_that_a_pod_does_not_want_are_left_out() -> None:
    manifest = pod(ENABLED, {"nemutator.io/skip-mutation": "labels, containers huh"})
    both = policy("a", {"labels": {"set": {"x": "1"}}}, {"annotations": {"set": {"y": "1"}}})
    planned = plan(manifest, situation(), [both])
    assert paths(planned) == ["metadata.annotations[y]"]
    assert planned.warnings == ("nemutator.io/skip-mutation: 'huh' is not a verb",)


def test_a_pod_that_wants_nothing_gets_nothing() -> None:
    manifest = pod(ENABLED, {"nemutator.io/skip": "true"})
    assert plan(manifest, situation(), [labelled("a", "1")]) == MutationPlan()
    manifest = pod(ENABLED, {"nemutator.io/skip": "never"})
    warned = MutationPlan(warnings=("nemutator.io/skip: 'never' is not a verb",))
    assert plan(manifest, situation(), [labelled("a", "1")]) == warned


def test_what_is_no_text_is_named() -> None:
    for field in ("labels", "annotations"):
        manifest = pod(**{field: {"nemutator.io/skip": True}})
        with pytest.raises(
            PathError, match=rf"metadata.{field}\[nemutator.io/skip\]: expected text"
        ):
            plan(manifest, situation(), [])
    # An API server reads none as empty text.
    assert plan(pod({"a": None}, {"nemutator.io/skip": None}), situation(), []) == MutationPlan()


def test_what_was_taken_back_is_left_alone() -> None:
    taken_back = situation(reversed=frozenset({"metadata.labels[team]"}))
    both = policy("a", {"labels": {"set": {"team": "1", "x": "1"}}})
    assert paths(plan(pod(), taken_back, [both])) == ["metadata.labels[x]"]


OWNED = Subject(
    api_version="v1",
    kind="Pod",
    namespace="default",
    name="web-1",
    owner_kind="Deployment",
    owner_name="web",
)


def test_a_label_by_which_a_workload_may_find_its_pod_keeps_its_value() -> None:
    renamed = policy("a", {"labels": {"set": {"app": "shop", "team": "1", "tier": "web"}}})
    labels = {"app": "web", "tier": "web"}
    planned = plan(pod(labels), situation(subject=OWNED), [renamed])
    assert paths(planned) == ["metadata.labels[team]"]
    [warning] = planned.warnings
    assert warning.startswith("policy a: metadata.labels[app]: left alone: its workload may find")
    # Nobody looks for a pod that nobody manages.
    assert len(plan(pod(labels), situation(), [renamed]).edits) == 2
    # What a policy has set on such a pod the next one may set otherwise.
    other = labelled("b", "2")
    planned = plan(pod(labels), situation(subject=OWNED), [renamed, other])
    assert [each.after for each in planned.edits] == [("2",)]


@pytest.mark.parametrize(
    ("selector", "kept"),
    [
        ({"matchLabels": {"app": "web"}}, {"app"}),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, {"app"}),
        ({"matchLabels": None, "matchExpressions": "x"}, set()),
        ("x", set()),
    ],
)
def test_a_workloads_own_selector_says_which_labels_those_are(
    selector: Json, kept: set[str]
) -> None:
    labels = {"app": "web", "team": "0"}
    made = {"spec": {"selector": selector, "template": {"metadata": {"labels": labels}}}}
    both = policy("a", {"labels": {"set": {"app": "shop", "team": "1"}}})
    planned = plan(made, situation("Deployment", injector=None), [both])
    changed = {"app", "team"} - kept
    assert set(paths(planned)) == {f"metadata.labels[{key}]" for key in changed}


def test_a_pod_of_its_own_is_the_workload_that_advice_is_about() -> None:
    asked: list[WorkloadRef] = []

    class Listening:
        def advise(self, workload: WorkloadRef, *_: Any) -> NoAdvice:
            asked.append(workload)
            return NoAdvice("")

    advised = policy("a", {"resources": {"requests": {"cpu": {"advice": True}}}})
    plan(pod(), situation(advisor=Listening()), [advised])
    plan(pod(), situation(advisor=Listening(), subject=OWNED), [advised])
    assert asked == [
        WorkloadRef("default", "Pod", "web"),
        WorkloadRef("default", "Deployment", "web"),
    ]


@pytest.mark.parametrize(
    "manifest",
    [
        {"metadata": 3},
        {"metadata": {"labels": "x"}},
        {"metadata": {"annotations": []}},
        {"metadata": {"annotations": {"nemutator.io/skip": True}}},
        {"metadata": {"annotations": {"nemutator.io/skip-mutation": ["labels"]}}},
        {"metadata": {"labels": {"build": 17}}},
        {"spec": {"containers": [{"name": "a", "resources": True}]}},
        {"spec": {"containers": [{"name": "a", "resources": {"limits": ["cpu"]}}]}},
    ],
)
def test_an_object_of_another_shape_is_an_error(manifest: Json) -> None:
    half = policy("a", {"resources": {"requests": {"cpu": {"ratio": 0.5}}}})
    with pytest.raises(PathError):
        plan(manifest, situation(), [half])


def test_a_label_that_a_selector_has_got_by_now_keeps_its_value() -> None:
    renamed = {"selectors": {"rename": {"app": "name"}}}
    both = policy_of(
        "a",
        {
            "applyTo": "template",
            "mode": "Apply",
            "mutations": [renamed, {"labels": {"set": {"name": "other"}}}],
        },
    )
    manifest = {
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}},
        }
    }
    planned = plan(manifest, situation("Deployment"), [both])
    made = apply_edits(manifest, planned.edits, "Deployment")["spec"]
    assert (
        made["template"]["metadata"]["labels"] == made["selector"]["matchLabels"] == {"name": "web"}
    )
    [warning] = planned.warnings
    assert "metadata.labels[name]: left alone" in warning


def test_a_selector_is_of_templates_only() -> None:
    with pytest.raises(PolicyError, match=r"spec\.applyTo: a pod has no selectors"):
        policy_of("a", {"mutations": [{"selectors": {"set": {"app": "b"}}}]})
