"""Every verb: what is done is not done again, is what the patch does, and can be taken back."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.mutations import workload_selectors
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.edits import apply_edits, reversed_edits, same
from nemutator_controller.mutations.patches import apply_patch, render
from nemutator_controller.mutations.stamps import merged, stamp_of, stamping, written
from nemutator_controller.policies.model import PolicyError, policy_of
from nemutator_controller.policies.plans import Situation, plan
from nemutator_controller.policies.verbs import VERBS

from tests.controller.mutations.pods import Json, manifests, pruned

APP = {"app": "web"}
APPLIED: Json = {"mode": "Apply", "applyTo": "template"}
SAMPLES: dict[str, list[Json]] = {
    "labels": [{"set": {"team": "a"}, "add": {"tier": "b"}, "remove": ["a/b"]}],
    "annotations": [{"set": {"a/b": "c"}, "remove": ["x"]}],
    "resources": [
        {"requests": {"cpu": {"ratio": 0.5}}},
        {"requests": {"memory": {"ratioOfLimit": 0.8}}, "qos": "Change"},
    ],
    "image": [
        {
            "tags": [{"images": ["*/ubuntu"], "set": "20.04"}],
            "move": [{"from": "docker.io", "to": "m.example:5000/hub"}],
            "allowed": ["m.example:5000/*"],
        },
        {"move": [{"from": "m.example:5000/hub", "to": "n.example"}]},
    ],
    "env": [
        {
            "set": [{"name": "LOG", "value": "info"}],
            "add": [
                {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                {"name": "TOKEN", "secret": "secret/app#token"},
            ],
            "remove": ["DEBUG", "OLD"],
        },
        {"add": [{"name": "LOG", "value": "x"}], "remove": ["LATER"]},
    ],
    "nodeSelector": [{"set": {"disk": "ssd"}, "add": {"arch": "amd64"}, "remove": ["old"]}],
    "tolerations": [
        {
            "add": [{"key": "gpu", "operator": "Exists"}, {"key": "a", "value": "b"}],
            "remove": [{"key": "old"}, {"effect": "NoExecute"}],
        }
    ],
    "affinity": [
        {
            "nodeAffinity": {
                "required": [{"key": "disk", "operator": "In", "values": ["ssd"]}],
                "preferred": [
                    {"weight": 5, "matchExpressions": [{"key": "zone", "operator": "Exists"}]}
                ],
            },
            "podAntiAffinity": {
                "required": [{"topologyKey": "host", "labelSelector": {"matchLabels": APP}}],
                "preferred": [{"weight": 1, "topologyKey": "zone", "labelSelector": {}}],
            },
        },
    ],
    "topologySpreadConstraints": [
        {"add": [{"topologyKey": "zone", "labelSelector": {"matchLabels": APP}}]}
    ],
    "securityContext": [
        {
            "pod": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "container": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        },
        {"container": {"readOnlyRootFilesystem": True, "runAsUser": 1000}, "containers": ["app"]},
    ],
    "priorityClassName": [{"set": "high"}, {"add": "low"}],
    "schedulerName": [{"set": "mine"}, {"add": "other"}],
    "imagePullPolicy": [{"set": "Always"}, {"set": "Never", "containers": ["side"]}],
    "imagePullSecrets": [{"add": ["mirror"], "remove": ["old"]}],
    "selectors": [
        {"rename": {"app": "app.kubernetes.io/name"}, "set": {"tier": "b"}},
        {"rename": {"tier": "kind"}, "set": {"app": "x", "kind": "y"}},
    ],
    "envFrom": [
        {"add": [{"configMap": "common"}, {"secret": "own", "prefix": "OWN_", "optional": True}]},
        {"add": [{"configMap": "common"}], "containers": ["app"]},
    ],
    "volumes": [
        {"add": [{"name": "certs", "configMap": "ca", "mountPath": "/etc/ssl/company"}]},
        {"add": [{"name": "tmp", "secret": "own", "mountPath": "/own"}], "containers": ["app"]},
    ],
    "emptyDir": [{"sizeLimit": "1Gi"}],
    "dnsConfig": [
        {"options": {"set": {"ndots": "2"}, "add": {"edns0": "", "timeout": "1"}}},
        {"options": {"add": {"ndots": "1"}}},
    ],
    "enableServiceLinks": [{"set": False}, {"set": True}],
    "automountServiceAccountToken": [{"set": False}, {"set": True}],
    "runtimeClassName": [{"set": "gvisor"}, {"add": "kata"}],
    "sidecars": [
        {"add": [{"name": "proxy", "image": "proxy:1", "requests": {"cpu": "10m"}}]},
        {"add": [{"name": "app", "image": "x"}, {"name": "log", "image": "y", "args": ["-v"]}]},
    ],
}

taints = st.fixed_dictionaries(
    {"key": st.sampled_from(["gpu", "a", "old"])},
    optional={
        "operator": st.sampled_from(["Equal", "Exists"]),
        "value": st.just("b"),
        "effect": st.sampled_from(["NoSchedule", "NoExecute"]),
        "tolerationSeconds": st.integers(0, 2),
    },
)
images = st.sampled_from(
    ["ubuntu", "ubuntu:14.04", "ubuntu@sha256:" + "0" * 64, "m.example:5000/hub/a", "No Image", ""]
)
variables = st.none() | st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["LOG", "DEBUG", "OLD", "LATER", "NODE"])},
        optional={
            "value": st.sampled_from(["1", "$(OLD)/x", "$(LATER)", "$(LOG)"]),
            "valueFrom": st.just({"fieldRef": {"fieldPath": "spec.nodeName"}}),
        },
    ),
    max_size=4,
)
contexts = st.fixed_dictionaries(
    {},
    optional={
        "runAsUser": st.integers(0, 1),
        "runAsNonRoot": st.booleans(),
        "privileged": st.booleans(),
        "capabilities": st.just({"add": ["SYS_ADMIN"]}),
    },
)
IN_A_ZONE = {"key": "zone", "operator": "In", "values": ["a"]}
SPREAD = {"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 3}
terms = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "matchExpressions": st.lists(st.just(IN_A_ZONE), max_size=2),
            "matchFields": st.just([IN_A_ZONE]),
        },
    ),
    min_size=1,
    max_size=2,
)
specs = st.fixed_dictionaries(
    {},
    optional={
        "nodeSelector": st.dictionaries(st.sampled_from(["disk", "arch", "old"]), st.just("x")),
        "tolerations": st.none() | st.lists(taints, max_size=4),
        "affinity": terms.map(
            lambda made: {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": made}
                }
            }
        ),
        "topologySpreadConstraints": st.lists(
            st.sampled_from([SPREAD, {**SPREAD, "topologyKey": "host"}]), max_size=2
        ),
        "securityContext": contexts,
        "priorityClassName": st.sampled_from(["", "high", "other"]),
        "priority": st.integers(0, 3),
        "dnsConfig": st.lists(
            st.sampled_from(["ndots", "timeout", "rotate"]), unique=True, max_size=2
        ).map(lambda found: {"options": [{"name": name, "value": "5"} for name in found]}),
        "volumes": st.lists(
            st.sampled_from(["tmp", "kube-api-access-x"]), unique=True, max_size=2
        ).map(lambda found: [{"name": name, "emptyDir": {"medium": ""}} for name in found]),
        "enableServiceLinks": st.booleans(),
        "runtimeClassName": st.sampled_from(["", "kata"]),
        "schedulerName": st.sampled_from(["default-scheduler", "mine", "theirs"]),
        "imagePullSecrets": st.lists(
            st.sampled_from(["old", "mirror", "own"]).map(lambda name: {"name": name}),
            unique_by=lambda item: item["name"],
        ),
    },
)


def spec_of(kind: str, manifest: Json) -> Json:
    for name in {"Pod": (), "CronJob": ("spec", "jobTemplate", "spec", "template")}.get(
        kind, ("spec", "template")
    ):
        manifest = manifest[name]
    return manifest["spec"]


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, Json, list[Json]]:
    kind, manifest = draw(manifests())
    spec = spec_of(kind, manifest)
    spec.update(draw(specs))
    if kind in workload_selectors.KINDS:
        manifest["spec"]["selector"] = {"matchLabels": {**APP, "tier": "a"}}
        metadata = manifest["spec"]["template"].setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), **APP, "tier": "a"}
    for container in spec["containers"]:
        container["image"] = draw(images)
        container["env"] = draw(variables)
        if context := draw(contexts):
            container["securityContext"] = context
    verbs = draw(st.lists(st.sampled_from(list(SAMPLES)), min_size=1, max_size=4))
    return kind, manifest, [{verb: draw(st.sampled_from(SAMPLES[verb]))} for verb in verbs]


def settled(kind: str, manifest: Json) -> Json:
    """As Kubernetes sees it: lists that are sets have no order, a priority follows from its class."""
    manifest = pruned(copy.deepcopy(manifest))
    spec = spec_of(kind, manifest)
    if spec.get("priorityClassName", "") == "":
        spec.pop("priorityClassName", None)
    for field in ("priority", "preemptionPolicy"):
        spec.pop(field, None)
    for container in spec["containers"]:
        if "env" in container:
            container["env"] = expanded(container["env"])
    if spec.get("runtimeClassName") == "":
        del spec["runtimeClassName"]
    for field in ("tolerations", "imagePullSecrets", "volumes"):
        if field in spec:
            spec[field] = sorted(spec[field], key=repr)
    return manifest


def expanded(listed: list[Json]) -> list[Json]:
    """As kubelet gives them to a process: a variable refers only to those before it."""
    known: dict[str, Json] = {}
    for each in listed:
        value = each.get("value", each.get("valueFrom"))
        if isinstance(value, str):
            for name, text in known.items():
                value = value.replace(f"$({name})", str(text))
        known[each["name"]] = value
    return sorted(known.items(), key=repr)


def situation(kind: str) -> Situation:
    return Situation(subject=Subject(api_version="v1", kind=kind, namespace="n", name="web"))


def test_each_verb_has_a_sample() -> None:
    assert tuple(SAMPLES) == VERBS


@pytest.mark.slow
@given(cases())
def test_what_is_done_is_done_once_and_can_be_taken_back(
    case: tuple[str, Json, list[Json]],
) -> None:
    kind, manifest, mutations = case
    untouched = copy.deepcopy(manifest)
    policies = [policy_of("p", APPLIED | {"mutations": mutations})]
    edits = plan(manifest, situation(kind), policies).edits
    assert same(manifest, untouched)
    done = apply_edits(manifest, edits, kind)
    assert same(apply_patch(manifest, render(manifest, edits, kind)), done)
    stamp = stamping((), written(merged(stamp_of(manifest, kind), "id", edits)), kind=kind)
    stamped = apply_edits(done, [stamp], kind) if edits else done
    assert plan(stamped, situation(kind), policies).edits == ()
    back = apply_edits(done, reversed_edits(edits), kind)
    assert same(settled(kind, back), settled(kind, manifest))


@pytest.mark.parametrize("verb", VERBS)
def test_a_pod_can_decline_each_verb(verb: str) -> None:
    policies = [policy_of("p", APPLIED | {"mutations": [{verb: SAMPLES[verb][0]}]})]
    pod: Any = {
        "metadata": {
            "labels": APP,
            "annotations": {"nemutator.io/skip-mutation": verb},
        },
        "spec": {
            "volumes": [{"name": "tmp", "emptyDir": {}}],
            "containers": [
                {"name": "app", "image": "ubuntu", "resources": {"requests": {"cpu": "1"}}}
            ],
        },
    }
    manifest = {"spec": {"selector": {"matchLabels": APP}, "template": pod}}
    here = situation("Deployment")
    assert plan(manifest, here, policies).edits == ()
    del pod["metadata"]["annotations"]
    edits = plan(manifest, here, policies).edits
    assert {edit.verb for edit in edits} == {verb}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_that_asks_for_nothing_is_a_fault(verb: str) -> None:
    with pytest.raises(PolicyError) as error:
        policy_of("p", APPLIED | {"mutations": [{verb: {}}]})
    assert all(each.startswith(f"spec.mutations[0].{verb}") for each in error.value.faults)
