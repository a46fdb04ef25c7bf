"""The webhook before a real API server: pods are changed as policies say, and never kept out."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nemutator_common import names

from tests.e2e.talking import counted
from tests.e2e.testbed.rival_webhook import rival
from tests.e2e.testbed.webhook import ROLE, Webhook, asked, asking, create, pod, policy
from tests.testbed.parts.control_plane import KubectlError
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.waiting import until

STAMP = "nemutator.io/mutation"


@pytest.fixture(scope="module")
def untouched(webhook: Webhook) -> Iterator[str]:
    """A namespace for tests that leave nothing in it, no decision either."""
    with new_namespace(webhook.cluster) as name:
        webhook.until_called(name)
        yield name


def test_policies_change_a_pod_and_the_record_says_what(called: Webhook, namespace: str) -> None:
    cluster = called.cluster
    cluster.apply(
        policy(
            "team",
            namespace,
            {"labels": {"set": {"team": "a"}}},
            {"annotations": {"add": {"example.org/owner": "us"}}},
            {"resources": {"requests": {"cpu": {"ratio": 0.2}}}},
        )
    )
    called.until_known(namespace, "team")
    assert called.decisions_in(namespace) == []
    made = create(cluster, namespace, pod())
    assert made["metadata"]["labels"]["team"] == "a"
    assert made["metadata"]["annotations"]["example.org/owner"] == "us"
    requests = made["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": "200m", "memory": "64Mi"}
    stamp = json.loads(made["metadata"]["annotations"][STAMP])
    [decision] = called.decisions_in(namespace)
    assert decision["id"] == stamp["id"]
    assert decision["subject"]["generate_name"] == "web-"
    edits = {edit["path"]: (edit["before"], edit["after"]) for edit in decision["edits"]}
    assert edits == {
        "metadata.labels[team]": ([], ["a"]),
        "metadata.annotations[example.org/owner]": ([], ["us"]),
        "containers[name=app].resources.requests.cpu": (["1"], ["200m"]),
    }
    # A pod like it is not planned for again, and has a stamp of its own.
    alike = [made]
    before = _known_plans(called)

    def known() -> bool:
        alike.append(create(cluster, namespace, pod()))
        return _known_plans(called) > before

    until(known, "the plan is used again", within_s=60)
    stamps = [json.loads(each["metadata"]["annotations"][STAMP]) for each in alike]
    assert [each["id"] for each in called.decisions_in(namespace)] == [s["id"] for s in stamps]
    assert all(each["edits"] == stamp["edits"] for each in stamps)
    assert all(each["spec"]["containers"][0]["resources"]["requests"] == requests for each in alike)
    # What came out, made anew, comes out the same: a share is not taken twice.
    again = {key: made[key] for key in ("apiVersion", "kind", "spec")}
    again["metadata"] = {
        "name": "again",
        "labels": made["metadata"]["labels"],
        "annotations": made["metadata"]["annotations"],
    }
    same = create(cluster, namespace, again)
    assert same["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "200m"
    assert len(called.decisions_in(namespace)) == len(alike)
    cluster.kubectl("delete", "mutationpolicy", "team")


def _known_plans(webhook: Webhook) -> float:
    socket = webhook.data / f"{names.ADMISSION}.sock"
    return counted(socket, names.ADMISSION_PLANS.name, origin="known")


def test_an_injected_pod_passes_the_restricted_standard(called: Webhook, namespace: str) -> None:
    cluster = called.cluster
    cluster.kubectl(
        "label",
        "namespace",
        namespace,
        "pod-security.kubernetes.io/enforce=restricted",
        "pod-security.kubernetes.io/enforce-version=latest",
        "nemutator.io/inject=enabled",
    )
    manifest = pod("restricted", annotations={"nemutator.io/secret.db": "secret/app/db#password"})
    manifest["spec"]["containers"][0]["securityContext"] = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    made = create(cluster, namespace, manifest)
    init = made["spec"]["initContainers"][0]
    assert (init["name"], init["image"]) == ("nemutator-init", "nemutator/agent:e2e")
    assert init["securityContext"]["runAsUser"] == 1000
    assert init["resources"] == {"requests": {"cpu": "1", "memory": "64Mi"}}
    [volume] = [each for each in made["spec"]["volumes"] if each["name"] == "nemutator"]
    assert volume["csi"] == {
        "driver": "agent.nemutator.io",
        "volumeAttributes": {"secret.db": "secret/app/db#password", "run-as-user": "1000"},
    }
    [mount] = [
        each
        for each in made["spec"]["containers"][0]["volumeMounts"]
        if each["name"] == "nemutator"
    ]
    assert mount == {"name": "nemutator", "mountPath": "/run/nemutator", "readOnly": True}
    assert made["status"]["qosClass"] == "Burstable"


def test_resources_stay_within_what_the_server_lets_in(called: Webhook, namespace: str) -> None:
    cluster = called.cluster
    bounds: dict[str, Any] = {"min": {"cpu": "100m"}, "maxLimitRequestRatio": {"cpu": "4"}}
    limits = {"limits": [{"type": "Container", "default": {"cpu": "2"}, **bounds}]}
    hard = {"requests.memory": "1Gi"}

    def bound(kind: str, spec: dict[str, Any]) -> None:
        metadata = {"name": "bounds", "namespace": namespace}
        cluster.apply({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec})

    bound("LimitRange", limits)
    bound("ResourceQuota", {"hard": hard})
    patched = json.dumps({"status": {"hard": hard, "used": {"requests.memory": "0"}}})
    quota = ("resourcequota/bounds", f"--namespace={namespace}")
    cluster.kubectl("patch", *quota, "--subresource=status", "--type=merge", f"--patch={patched}")
    cpu = {"resources": {"requests": {"cpu": {"ratio": 0.01}}}}
    memory = {"resources": {"requests": {"memory": {"value": "2Gi"}}}}
    cluster.apply(policy("bounds", namespace, cpu, memory))

    def requested(**spec: Any) -> dict[str, str]:
        manifest = pod()
        manifest["spec"] |= spec
        # A pod that goes beyond them is refused, and that fails here.
        made = create(cluster, namespace, manifest, "--dry-run=server")
        found: dict[str, str] = made["spec"]["containers"][0]["resources"]["requests"]
        return found

    held = {"cpu": "500m", "memory": "64Mi"}
    until(lambda: _unless_refused(requested) == held, "policy and bounds are known", within_s=60)
    # Its containers together may not ask for more than the pod does.
    own = {"requests": {"cpu": "1", "memory": "512Mi"}, "limits": {"cpu": "2"}}
    assert requested(resources=own) == held
    cluster.kubectl("delete", "mutationpolicy", "bounds")


def test_another_webhook_that_strips_or_overwrites_does_not_make_a_share_smaller(
    called: Webhook, namespace: str, tmp_path: Path
) -> None:
    cluster = called.cluster
    share = {"resources": {"requests": {"cpu": {"ratio": 0.5}}}}
    cluster.apply(policy("half", namespace, share, {"labels": {"set": {"halved": "yes"}}}))
    called.until_known(namespace, "halved")

    def made(how: str, *more: str) -> tuple[str, dict[str, Any], dict[str, str]]:
        manifest = pod(labels={"rival": how}, annotations={"theirs": "x"})
        stored = create(cluster, namespace, manifest, *more)
        requests = stored["spec"]["containers"][0]["resources"]["requests"]
        annotations = stored["metadata"].get("annotations", {})
        return requests["cpu"], json.loads(annotations.get(STAMP, "{}")), annotations

    with rival(cluster, namespace, tmp_path):
        until(
            lambda: "theirs" not in made("strips", "--dry-run=server")[2],
            "the rival is asked",
            within_s=60,
        )
        cpu, stamp, _ = made("strips")
        assert cpu == "500m"
        records = [each for each in called.decisions_in(namespace) if each["mode"] == "apply"]
        assert [record["id"] for record in records] == [stamp["id"]]
        assert stamp["edits"] == [
            [edit["path"], edit["before"], edit["after"], edit["verb"], edit["policy"]]
            for edit in records[0]["edits"]
        ]
        cpu, stamp, _ = made("overwrites")
    assert cpu == "350m"
    last = called.decisions_in(namespace)[-1]
    assert last["id"] == stamp["id"]
    assert ("resources", ["1"], ["350m"]) in [
        (edit["verb"], edit["before"], edit["after"]) for edit in last["edits"]
    ]


def test_a_dry_run_is_answered_and_leaves_nothing(webhook: Webhook, untouched: str) -> None:
    manifest = pod(labels={"nemutator.io/inject": "enabled"})
    made = create(webhook.cluster, untouched, manifest, "--dry-run=server")
    assert made["spec"]["initContainers"][0]["name"] == "nemutator-init"
    assert webhook.decisions_in(untouched) == []


def test_a_preview_is_recorded_and_changes_nothing(called: Webhook, namespace: str) -> None:
    cluster = called.cluster
    mutation = {"labels": {"set": {"previewed": "yes"}}}
    cluster.apply(policy("preview", namespace, mutation, mode="Preview"))

    def recorded() -> bool:
        made = create(cluster, namespace, pod())
        assert "labels" not in made["metadata"]
        assert STAMP not in made["metadata"].get("annotations", {})
        return bool(called.decisions_in(namespace))

    until(recorded, "the preview is known", within_s=60)
    [decision] = called.decisions_in(namespace)
    assert decision["mode"] == "preview"
    assert decision["edits"][0]["path"] == "metadata.labels[previewed]"
    cluster.kubectl("delete", "mutationpolicy", "preview")


def test_what_a_pod_does_not_want_is_not_done(webhook: Webhook, untouched: str) -> None:
    inject = {"nemutator.io/inject": "enabled"}
    for annotations in (
        {"nemutator.io/skip": "true"},
        {"nemutator.io/skip-mutation": "containers"},
    ):
        made = create(webhook.cluster, untouched, pod(labels=inject, annotations=annotations))
        assert "initContainers" not in made["spec"]
    assert webhook.decisions_in(untouched) == []


def test_who_requires_what_cannot_be_done_is_told_so(webhook: Webhook, untouched: str) -> None:
    manifest = pod(
        labels={"nemutator.io/inject": "required"},
        annotations={"nemutator.io/secret.db": "no reference"},
    )
    with pytest.raises(
        KubectlError, match=r"cannot be injected: annotations: secret\.db: expected"
    ):
        create(webhook.cluster, untouched, manifest)


def test_a_warning_reaches_who_creates_the_pod(webhook: Webhook, untouched: str) -> None:
    manifest = pod(
        labels={"nemutator.io/inject": "enabled"},
        annotations={"nemutator.io/env.TOKEN": "secret/app#token"},
    )
    with asking(webhook.cluster) as connection:
        path = f"/api/v1/namespaces/{untouched}/pods"
        _, _, warning = asked(connection, webhook.cluster, path, manifest)
    assert "these start without the pod's variables: app" in warning


def test_without_the_webhook_pods_are_let_in_as_they_are(called: Webhook, namespace: str) -> None:
    called.daemon.process.send_signal(19)  # SIGSTOP: it neither answers nor refuses
    try:
        made = create(called.cluster, namespace, pod(labels={"nemutator.io/inject": "enabled"}))
        assert "initContainers" not in made["spec"]
        with pytest.raises(KubectlError, match=r"required\.nemutator\.io"):
            create(called.cluster, namespace, pod(labels={"nemutator.io/inject": "required"}))
    finally:
        called.daemon.process.send_signal(18)


def test_its_rights_are_to_read_policies_and_namespaces(called: Webhook) -> None:
    user = f"--as=system:serviceaccount:nemutator:{ROLE}"
    for verb, resource, may in (
        ("list", "mutationpolicies.nemutator.io", True),
        ("watch", "namespaces", True),
        ("update", "mutationpolicies.nemutator.io", False),
        ("get", "secrets", False),
        ("create", "pods", False),
    ):
        try:
            said = called.cluster.kubectl("auth", "can-i", verb, resource, user).strip()
        except KubectlError:
            said = "no"
        assert said == ("yes" if may else "no"), (verb, resource)


def _unless_refused(create: Callable[[], Any]) -> Any:
    try:
        return create()
    except KubectlError:
        return None
