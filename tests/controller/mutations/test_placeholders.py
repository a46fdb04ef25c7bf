"""Labels, annotations and variables get the values of their tokens, each once, and can be taken back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.edits import apply_edits, reversed_edits
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.patches import apply_patch, render
from nemutator_controller.mutations.stamps import merged, stamp_of, stamping, written
from nemutator_controller.policies.model import Policy, policy_of
from nemutator_controller.policies.plans import MutationPlan, Situation, plan

from tests.controller.mutations.pods import Json, manifests, pruned, whys

TOKENS = {
    "nemu_label_team": "team",
    "nemu_label_value_team": "shop",
    "nemu_anno_owner": "example.com/owner",
    "nemu_anno_value_owner": "Ada Lovelace",
    "nemu_url": "http://db:5432/",
    "nemu_label_bad": "not a key!",
    "nemu_label_value_bad": "not a value!",
    "nemu_anno_bad": "a b",
    "nemu_label_ours": "nemutator.io/inject",
    "nemu_again": "nemu_url",
    "nemu_zero": "a\0b",
    "nemu_long": "x" * 4097,
}


def situation(kind: str = "Pod", *, owner: str = "", **changed: Any) -> Situation:
    subject = Subject(
        api_version="v1", kind=kind, namespace="default", name="web", owner_name=owner
    )
    return Situation(subject=subject, tokens=KnownTokens(TOKENS), **changed)


def pod(
    labels: Json = None, annotations: Json = None, variables: dict[str, str] | None = None
) -> Json:
    env = [{"name": name, "value": value} for name, value in (variables or {}).items()]
    return {
        "metadata": {"name": "web", "labels": labels, "annotations": annotations},
        "spec": {"containers": [{"name": "app", "env": env}]},
    }


def made(manifest: Json, planned: MutationPlan, kind: str = "Pod") -> Json:
    return apply_edits(manifest, planned.edits, kind)


def variables(manifest: Json) -> dict[str, str]:
    return {each["name"]: each["value"] for each in manifest["spec"]["containers"][0]["env"]}


def test_each_place_gets_the_value_of_its_key() -> None:
    manifest = pod(
        {"nemu_label_team": "nemu_label_value_team", "app": "web"},
        {"nemu_anno_owner": "nemu_anno_value_owner"},
        {"URL": "nemu_url", "PLAIN": "x"},
    )
    planned = plan(manifest, situation(), [])
    result = made(manifest, planned)
    assert result["metadata"]["labels"] == {"app": "web", "team": "shop"}
    assert result["metadata"]["annotations"] == {"example.com/owner": "Ada Lovelace"}
    assert variables(result) == {"URL": "http://db:5432/", "PLAIN": "x"}
    assert (planned.warnings, whys(planned)) == ((), ())
    assert {each.policy for each in planned.edits} == {"tokens"}
    assert {each.verb for each in planned.edits} == {"labels", "annotations", "env"}


def test_init_containers_have_variables_too_and_references_stay() -> None:
    manifest = pod()
    source = {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    env = [source, {"name": "A", "value": "nemu_url"}]
    manifest["spec"]["initContainers"] = [{"name": "first", "env": env}]
    [container] = made(manifest, plan(manifest, situation(), []))["spec"]["initContainers"]
    assert container["env"] == [source, {"name": "A", "value": "http://db:5432/"}]


def test_without_a_store_a_placeholder_is_plain_text() -> None:
    bare = Situation(subject=situation().subject)
    assert plan(pod({"nemu_label_team": "x"}), bare, []) == MutationPlan()


@pytest.mark.parametrize(
    ("labels", "annotations", "env", "why", "reason"),
    [
        ({"nemu_label_none": "x"}, None, None, "unknown", "the token store has no such key"),
        ({"nemu_label_bad": "x"}, None, None, "unfit", "expected a key"),
        ({"x": "nemu_label_value_bad"}, None, None, "unfit", "expected a label's value"),
        ({"nemu_label_team": "x", "team": "y"}, None, None, "unfit", "team is there already"),
        ({"nemu_label_ours": "enabled"}, None, None, "unfit", "steer nemutator itself"),
        ({"nemutator.io/x": "nemu_label_value_team"}, None, None, "unfit", "steer nemutator"),
        (None, {"nemu_anno_bad": "x"}, None, "unfit", "expected a key"),
        (None, {"nemutator.io/vault-role": "nemu_anno_value_owner"}, None, "unfit", "steer"),
        (None, None, {"A": "nemu_again"}, "unfit", "its value is a placeholder, too"),
        (None, None, {"A": "nemu_zero"}, "unfit", "without zero characters"),
        (None, None, {"A": "nemu_long"}, "unfit", "at most 4096 characters"),
    ],
)
def test_what_does_not_fit_stays_with_its_reason(
    labels: Json, annotations: Json, env: Json, why: str, reason: str
) -> None:
    planned = plan(pod(labels, annotations, env), situation(), [])
    assert (planned.edits, whys(planned)) == ((), (why,))
    [warning] = planned.warnings
    assert "stays as it is: " in warning
    assert reason in warning


def test_of_one_label_the_value_is_replaced_although_its_key_is_not() -> None:
    manifest = pod({"nemu_label_none": "nemu_label_value_team"})
    result = made(manifest, plan(manifest, situation(), []))
    assert result["metadata"]["labels"] == {"nemu_label_none": "shop"}


def test_a_variable_that_is_there_twice_stays() -> None:
    manifest = pod()
    manifest["spec"]["containers"][0]["env"] = [{"name": "A", "value": "nemu_url"}] * 2
    planned = plan(manifest, situation(), [])
    assert (planned.edits, whys(planned)) == ((), ("unfit", "unfit"))


def test_labels_by_which_a_workload_may_find_its_pods_stay() -> None:
    manifest = pod({"nemu_label_team": "x", "team": "nemu_label_value_team"}, {"a": "b"})
    planned = plan(manifest, situation(owner="web"), [])
    assert (planned.edits, whys(planned)) == ((), ("kept", "kept"))
    template = pod({"app": "nemu_label_value_team", "team": "nemu_label_value_team"})
    selector = {"matchLabels": {"app": "nemu_label_value_team"}}
    deployment = {"metadata": {}, "spec": {"selector": selector, "template": template}}
    planned = plan(deployment, situation("Deployment"), [])
    assert [each.path for each in planned.edits] == ["metadata.labels[team]"]
    assert whys(planned) == ("kept",)


def test_a_policy_can_add_a_label_with_a_placeholder_to_pods_of_a_workload() -> None:
    manifest = pod({"app": "web"})
    planned = plan(manifest, situation(owner="web"), [adding("team", "nemu_label_value_team")])
    [edit] = planned.edits
    assert (edit.path, edit.before, edit.after) == ("metadata.labels[team]", (), ("shop",))


def adding(key: str, value: str) -> Policy:
    return policy_of("team", {"mode": "Apply", "mutations": [{"labels": {"add": {key: value}}}]})


@pytest.mark.parametrize(
    ("skipped", "left"),
    [("labels", {"annotations", "env"}), ("annotations env", {"labels"}), ("patch", set())],
)
def test_verbs_that_a_pod_does_not_want_leave_its_placeholders(
    skipped: str, left: set[str]
) -> None:
    words = {"nemutator.io/skip-mutation": skipped, "a": "nemu_anno_value_owner"}
    manifest = pod({"team": "nemu_label_value_team"}, words, {"URL": "nemu_url"})
    planned = plan(manifest, situation(), [])
    assert {each.verb for each in planned.edits} == left
    assert (len(planned.previewed) == 3) is (skipped == "patch")


def test_a_key_that_was_taken_back_is_neither_removed_nor_added() -> None:
    manifest = pod({"nemu_label_team": "x"})
    for path in ("metadata.labels[team]", "metadata.labels[nemu_label_team]"):
        taken_back = situation(reversed=frozenset({path}))
        assert plan(manifest, taken_back, []).edits == ()


def test_another_value_of_the_store_reaches_a_pod_that_is_seen_again() -> None:
    manifest = pod({"team": "nemu_label_value_team"})
    planned = plan(manifest, situation(), [])
    stamp = written(merged(None, "d0", planned.edits))
    stamped = apply_edits(made(manifest, planned), [stamping((), stamp)], "Pod")
    assert plan(stamped, situation(), []) == MutationPlan()
    other = KnownTokens(TOKENS | {"nemu_label_value_team": "other"})
    again = plan(stamped, Situation(subject=situation().subject, tokens=other), [])
    [edit] = again.edits
    assert (edit.before, edit.after) == (("shop",), ("other",))


placeholders = st.sampled_from([*TOKENS, "nemu_label_none", "nemu_env_none", "nemu_", "plain"])


@st.composite
def with_placeholders(draw: st.DrawFn) -> tuple[str, Json]:
    kind, manifest = draw(manifests())
    template = manifest
    for step in {"Deployment": ["spec", "template"]}.get(kind, []):
        template = template[step]
    if kind == "CronJob":
        template = template["spec"]["jobTemplate"]["spec"]["template"]
    texts = st.dictionaries(placeholders, placeholders, max_size=4)
    for field in ("labels", "annotations"):
        template["metadata"][field] = draw(texts)
    for container in template["spec"]["containers"]:
        container["env"] = [
            {"name": name, "value": value}
            for name, value in draw(
                st.lists(st.tuples(st.sampled_from("ABC"), placeholders), max_size=4)
            )
        ]
    return kind, manifest


@given(with_placeholders(), st.booleans())
def test_placeholders_are_replaced_once_and_can_be_taken_back(
    case: tuple[str, Json], managed: bool
) -> None:
    kind, manifest = case
    about = situation(kind, owner="web" if managed else "")
    planned = plan(manifest, about, [])
    result = made(manifest, planned, kind)
    assert apply_patch(manifest, render(manifest, planned.edits, kind)) == result
    # The second plan is made of the result with its stamp, and of the result without it.
    assert plan(result, about, []).edits == ()
    if planned.edits:
        stamp = written(merged(stamp_of(manifest, kind), "d0", planned.edits))
        stamped = apply_edits(result, [stamping((), stamp)], kind)
        assert plan(stamped, about, []).edits == ()
    back = apply_edits(result, reversed_edits(planned.edits), kind)
    assert pruned(back) == pruned(manifest)
