import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.errors import OperatorError
from nemutator_ctl.policy.trial import InputFile, attempt, tokens_in

from tests.fakes.manifests import Json, deployment, policy


def file(name: str, *documents: object) -> InputFile:
    return InputFile(name, "\n---\n".join(map(json.dumps, documents)).encode())


def test_a_policy_is_tried_on_a_manifest() -> None:
    report = attempt([file("p.yaml", policy()), file("m.yaml", deployment())])
    assert report.faults == ()
    assert report.text == (
        "Deployment default/web\n"
        '  + metadata.labels[team]: "blue"\n'
        "      by defaults\n"
        '  - containers[name=app].resources.requests.cpu: "1"\n'
        '  + containers[name=app].resources.requests.cpu: "250m"\n'
        f"      by defaults: {report.text.split('defaults: ')[1]}"
    )


def test_a_preview_and_a_manifest_that_nobody_wants_changed_say_so() -> None:
    shown = attempt([file("x", policy(mode="Preview"), deployment())]).text
    assert shown.startswith("Deployment default/web\n  preview only:\n  + metadata.labels")
    shown = attempt([file("x", policy(namespaces=["other"]), deployment())]).text
    assert shown == "Deployment default/web\n  no change\n"


@pytest.mark.parametrize("namespace", ["kube-system", "kube-node-lease", "nemutator"])
def test_where_no_cluster_asks_admission_nothing_is_shown_to_change(namespace: str) -> None:
    manifest = deployment()
    manifest["metadata"]["namespace"] = namespace
    shown = attempt([file("x", policy(), manifest)]).text
    assert shown == (
        f"Deployment {namespace}/web\n  no change: policies are for no pod in {namespace}\n"
    )


def test_a_pod_that_kubelet_mirrors_stays() -> None:
    annotations = {"kubernetes.io/config.mirror": "x"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "static", "annotations": annotations},
        "spec": {"containers": [{"name": "app"}]},
    }
    shown = attempt([file("x", policy(), pod)]).text
    assert shown.splitlines()[1] == "  no change: policies are for no pod that kubelet mirrors"


@pytest.mark.parametrize("way", ["set", "add"])
def test_a_label_by_which_a_workload_would_lose_its_pods_is_left_alone(way: str) -> None:
    manifest, wanted = deployment(), policy()
    expression = {"key": "team", "operator": "DoesNotExist"}
    manifest["spec"]["selector"] = {"matchExpressions": [expression]}
    wanted["spec"]["mutations"] = [{"labels": {way: {"team": "blue"}}}]
    shown = attempt([file("x", wanted, manifest)]).text
    assert "warning: policy defaults: metadata.labels[team]: left alone" in shown
    assert "no change" in shown


def limited() -> Json:
    manifest = deployment()
    container = manifest["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": {"cpu": "2"}}
    return manifest


def test_a_share_is_taken_of_the_request_that_an_api_server_makes_of_a_limit() -> None:
    report = attempt([file("x", policy(), limited())])
    assert '  + containers[name=app].resources.requests.cpu: "500m"\n' in report.text
    assert "0.25 of 2" in report.text


@pytest.mark.parametrize(
    ("mutation", "field", "value"),
    [
        ({"imagePullPolicy": {"set": "Always"}}, "imagePullPolicy", "Always"),
        ({"enableServiceLinks": {"set": True}}, "enableServiceLinks", "true"),
        ({"schedulerName": {"set": "default-scheduler"}}, "schedulerName", "default-scheduler"),
    ],
)
def test_what_the_api_server_has_written_already_is_no_change(
    mutation: Json, field: str, value: str
) -> None:
    containers = [{"name": "app", "image": "nginx"}]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": {"containers": containers},
    }
    plain = {**policy(), "spec": {"mode": "Apply", "mutations": [mutation]}}
    assert attempt([file("x", plain, pod)]).text == "Pod default/web\n  no change\n"
    # Conditions are about the pod that admission sees, too.
    where = f"containers[*].{field}" if field == "imagePullPolicy" else field
    condition = {"field": where, "operator": "In", "values": [value]}
    chosen = {
        "match": {"fields": [condition]},
        "mode": "Apply",
        "mutations": [{"labels": {"set": {"a": "b"}}}],
    }
    text = attempt([file("x", {**policy(), "spec": chosen}, pod)]).text
    assert text == 'Pod default/web\n  + metadata.labels[a]: "b"\n      by defaults\n'


def test_advice_is_said_to_be_followed_in_a_cluster() -> None:
    advised = {"resources": {"requests": {"memory": {"advice": True}}}}
    follow = {**policy(), "spec": {"mode": "Apply", "mutations": [advised]}}
    report = attempt([file("x", follow, deployment())])
    assert "advice comes from a brain, which is not asked here" in report.text
    assert "from the brain yet" not in report.text


@pytest.mark.parametrize(
    ("mode", "offenders", "word"),
    [
        ("Apply", "Warn", "warning"),
        ("Apply", "Refuse", "refused"),
        ("Preview", "Refuse", "preview only"),
    ],
)
def test_an_image_that_is_not_allowed_is_named(mode: str, offenders: str, word: str) -> None:
    rules = {"image": {"allowed": ["mirror.example/*"], "offenders": offenders}}
    report = attempt(
        [file("x", {**policy(), "spec": {"mode": mode, "mutations": [rules]}}, deployment())]
    )
    assert (
        f"  {word}: policy defaults: containers[name=app].image: docker.io/library/app"
        in report.text
    )


def test_a_policy_alone_is_judged() -> None:
    assert attempt([file("x", policy())]).text.startswith("1 policy is sound")
    assert attempt([file("x", policy(), policy("b"))]).text.startswith("2 policies are sound")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            {**policy(), "spec": {"mutations": []}},
            "p.yaml: MutationPolicy defaults: spec.mutations",
        ),
        (
            policy(podSelektor={}),
            "p.yaml: MutationPolicy defaults: spec.match: ",
        ),
        ({"kind": "Gadget"}, "p.yaml: apiVersion: expected"),
        ([], "p.yaml: the document: expected an object"),
    ],
)
def test_a_fault_names_file_field_and_remedy(document: object, said: str) -> None:
    report = attempt([file("p.yaml", document), file("m.yaml", deployment())])
    assert report.faults[0].startswith(said)
    assert all("\n  remedy: " in fault for fault in report.faults)


def test_a_pod_may_have_no_more_than_the_beginning_of_a_name() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-"}}
    pod["spec"] = {"containers": [{"name": "app", "image": "app:1"}]}
    report = attempt([file("x", policy(names=["web-*"]), pod)])
    assert report.faults == ()
    assert report.text.startswith('Pod default/web-…\n  + metadata.labels[team]: "blue"\n')


def test_what_kubectl_prints_as_a_list_is_tried_object_by_object() -> None:
    item = {field: deployment("b")[field] for field in ("metadata", "spec")}
    typed = {"apiVersion": "apps/v1", "kind": "DeploymentList", "items": [item]}
    whole = {"apiVersion": "v1", "kind": "List", "items": [policy(), deployment("a"), typed]}
    report = attempt([file("x", whole)])
    assert report.faults == ()
    assert report.text.count("by defaults") == 4
    assert "Deployment default/a\n" in report.text
    assert "Deployment default/b\n" in report.text


def test_what_a_chart_has_beside_its_workloads_is_passed_over_by_name() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
    report = attempt([file("x", policy(), service, deployment())])
    assert report.faults == ()
    assert report.text.endswith("\nService web\n  no change: no pods are made of it\n")


def test_of_what_makes_pods_in_a_way_of_its_own_nobody_says_that_it_makes_none() -> None:
    rollout = deployment() | {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout"}
    report = attempt([file("x", policy(), rollout)])
    assert report.faults == ()
    assert report.text == (
        "Rollout web\n  not tried: its pods are changed as they are created; try its template as a Pod\n"
    )


@pytest.mark.parametrize("selector", [{"team": "web"}, None])
def test_pods_of_a_replication_controller_are_planned_for(selector: object) -> None:
    template = {"metadata": {"labels": {"team": "web"}}, "spec": {"containers": [{"name": "a"}]}}
    spec = {"selector": selector, "template": template}
    named = {"metadata": {"name": "web"}, "spec": spec}
    controller = {"apiVersion": "v1", "kind": "ReplicationController"} | named
    mutations = [{"labels": {"set": {"team": "blue", "tier": "2"}}}]
    wanted = {**policy(), "spec": {"mode": "Apply", "mutations": mutations}}
    report = attempt([file("x", wanted, controller)])
    assert report.faults == ()
    assert report.text.startswith("ReplicationController default/web\n  warning: ")
    assert "metadata.labels[team]: left alone" in report.text
    assert '+ metadata.labels[tier]: "2"' in report.text


@pytest.mark.parametrize("containers", ["app", {"name": "app"}, ["app"], [{"name": "app"}, 3]])
@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
def test_containers_that_an_api_server_cannot_read_are_a_fault(
    kind: str, containers: object
) -> None:
    pod = {"spec": {"containers": containers}}
    spec = pod["spec"] if kind == "Pod" else {"template": pod}
    manifest = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "web"}, "spec": spec}
    [fault] = attempt([file("x", policy(), manifest)]).faults
    assert "containers" in fault
    assert "as an API server does" in fault


def test_a_kind_of_ours_that_does_not_exist_is_named() -> None:
    misspelt = {**policy(), "kind": "MutationPolcy"}
    assert "kind: expected" in attempt([file("x", policy(), misspelt)]).faults[0]


def test_a_pod_of_a_thousand_containers_is_left_alone_as_in_a_cluster() -> None:
    manifest = deployment()
    manifest["spec"]["template"]["spec"]["containers"] = [
        {"name": f"c{number}", "image": "app:1"} for number in range(1_000)
    ]
    assert attempt([file("x", policy(), manifest)]).text == (
        "Deployment default/web\n  warning: left alone: more than 128 containers\n  no change\n"
    )


def test_labels_of_a_template_stay_as_they_stay_in_pods_that_a_cluster_makes_of_it() -> None:
    manifest = deployment()
    manifest["spec"]["template"]["metadata"]["labels"] |= {
        "tier": "old",
        "team": "nemu_label_value_t",
    }
    asked = policy()
    asked["spec"]["mutations"] = [{"labels": {"set": {"tier": "web", "size": "m"}}}]
    tokens = tokens_in(InputFile("t.yaml", b"nemu_label_value_t: shop\n"))
    shown = attempt([file("x", asked, manifest)], tokens).text
    assert "metadata.labels[tier]: left alone: its workload may find its pods by it" in shown
    assert "nemu_label_value_t stays as it is: its workload may find its pods by it" in shown
    assert [line for line in shown.split("\n") if line.startswith(("  +", "  -"))] == [
        '  + metadata.labels[size]: "m"'
    ]
    asked["spec"]["applyTo"] = "template"
    shown = attempt([file("x", asked, manifest)]).text
    assert '  - metadata.labels[tier]: "old"\n  + metadata.labels[tier]: "web"\n' in shown


def test_a_file_that_is_no_yaml_is_named() -> None:
    (fault,) = attempt([InputFile("p.yaml", b"a: [")]).faults
    assert fault.startswith("p.yaml: ")


def test_a_manifest_of_the_wrong_shape_is_named() -> None:
    bad = {**deployment(), "spec": {"template": []}}
    (fault,) = attempt([file("x", policy(), bad)]).faults
    assert fault.startswith("Deployment default/web: ")


def test_without_a_policy_there_is_nothing_to_try() -> None:
    report = attempt([file("x", deployment())])
    assert "no policy among these files" in report.faults[0]


@given(st.text(max_size=40))
def test_strange_names_do_not_draw_on_the_terminal(name: str) -> None:
    report = attempt([file("p\x1b.yaml", policy(), deployment(name or "x"))])
    text = report.text + "".join(report.faults)
    assert all(line.isprintable() for line in text.split("\n"))


def test_placeholders_are_replaced_by_the_tokens_of_a_file() -> None:
    manifest = deployment()
    metadata = manifest["spec"]["template"]["metadata"]
    metadata["annotations"] = {"a": "nemu_anno_value_team", "b": "nemu_anno_value_none"}
    tokens = tokens_in(InputFile("t.yaml", b"nemu_anno_value_team: shop\n"))
    shown = attempt([file("x", manifest)], tokens).text
    assert (
        '  + metadata.annotations[a]: "shop"\n      by tokens: token nemu_anno_value_team\n'
        in shown
    )
    assert "nemu_anno_value_none stays as it is: the token store has no such key" in shown


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[]", "expected one map"),
        (b"{}\n---\n{}", "expected one map"),
        (b"nemu_a: {", "expected"),
        (b"nemu_a: x\nteam: x", "'team' is no such key; expected one map"),
        (b"nemu_a: x\nnemu_b: yes", "nemu_b is no text, so write it in quotes; expected one map"),
        (b"nemu_b: 1.20", "nemu_b is no text, so write it in quotes; expected one map"),
        (b"nemu_b: ''", "nemu_b is empty or too long; expected one map"),
        (b"nemu_b: " + b"x" * 4097, "nemu_b is empty or too long; expected one map"),
    ],
)
def test_what_is_no_token_in_a_file_is_named(content: bytes, why: str) -> None:
    with pytest.raises(OperatorError, match=rf"t\.yaml: .*{re.escape(why)}"):
        tokens_in(InputFile("t.yaml", content))
