"""Taking back by eviction, whole: command, brain, admission, API server and the workload's controller."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from nemutator_controller.policies.template_rules import ENTRY

from tests.e2e.testbed.webhook import DEPLOY, Json, Webhook, define, pod, policy, standing
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.waiting import until

STAMP = "nemutator.io/mutation"


@pytest.fixture(scope="module")
def webhook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Webhook]:
    define(cluster)
    with standing(cluster, tmp_path_factory.mktemp("rollback"), brain=True) as hook:
        yield hook


def nemutator(webhook: Webhook, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nemutator_ctl", *arguments, f"--data-dir={webhook.data}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.timeout(180)  # a control plane that may be busy, and two processes with their imports
def test_what_was_evicted_comes_back_without_what_was_taken_back(
    webhook: Webhook, namespace: str
) -> None:
    cluster = webhook.cluster
    cluster.apply(policy("team", namespace, {"labels": {"set": {"team": "a", "tier": "web"}}}))
    webhook.until_called(namespace)
    webhook.until_known(namespace, "team")
    template = pod(labels={"app": "web", "nemutator.io/inject": "enabled"})
    del template["metadata"]["generateName"], template["apiVersion"], template["kind"]
    selector = {"matchLabels": {"app": "web"}}

    def only() -> Json:
        found = cluster.get("pods", "--selector=app=web", f"--namespace={namespace}")["items"]
        staying = (each for each in found if "deletionTimestamp" not in each["metadata"])
        return dict(next(staying, {}))

    cluster.apply(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": namespace},
            "spec": {"replicas": 1, "selector": selector, "template": template},
        }
    )
    until(only, "its ReplicaSet has made a pod", within_s=60)
    first = only()
    assert first["spec"]["initContainers"][0]["name"] == "nemutator-init"
    stamp = json.loads(first["metadata"]["annotations"][STAMP])

    def observed() -> bool:
        shown = nemutator(webhook, "mutations", stamp["id"], "--output=json")
        return shown.returncode == 0 and json.loads(shown.stdout)["state"] == "observed"

    until(observed, "the brain has the decision and has seen its pod", within_s=60)
    all_here = ("rollback", f"--namespace={namespace}")
    rehearsed = nemutator(webhook, *all_here, "--dry-run=server")
    assert f"[1/1] {stamp['id']} Pod {namespace}/{first['metadata']['name']}: partly" in (
        rehearsed.stdout
    ), rehearsed
    assert only()["metadata"]["labels"] == first["metadata"]["labels"]
    done = nemutator(webhook, *all_here, "--evict", "--yes")
    assert done.returncode == 0, done
    stays = nemutator(webhook, "tombstones", f"--namespace={namespace}")
    assert "Deployment/web" in stays.stdout, stays
    until(
        lambda: only() and only()["metadata"]["uid"] != first["metadata"]["uid"],
        "a new pod",
        within_s=60,
    )
    second = only()
    assert "initContainers" not in second["spec"]
    assert second["metadata"]["labels"].keys() == first["metadata"]["labels"].keys() - {
        "team",
        "tier",
    }
    assert STAMP not in second["metadata"].get("annotations", {})
    cluster.kubectl("delete", "deployment", "web", f"--namespace={namespace}")


@pytest.mark.timeout(180)
def test_a_template_shows_what_will_run_and_is_taken_back_for_good(
    webhook: Webhook, namespace: str
) -> None:
    cluster = webhook.cluster
    half = {"resources": {"requests": {"cpu": {"ratio": 0.5}}}}
    label = {"labels": {"set": {"template": "changed"}}}
    # The API server spells these letters its own way, and compares what a patch tests by the byte.
    query, of_pods = "a=1&b=<2>", {"annotations": {"set": {"query": "of pods"}}}
    texts = {"annotations": {"set": {"query": query}}}
    variable = {"env": {"set": [{"name": "QUERY", "value": query}]}}
    cluster.apply(policy("template", namespace, half, label, texts, variable, applyTo="template"))
    cluster.apply(policy("pods", namespace, of_pods))
    deployment = workload(namespace)

    def applied(*more: str) -> Json:
        text = json.dumps(deployment)
        printed = cluster.kubectl("apply", "--filename=-", "--output=json", *more, given=text)
        return dict(json.loads(printed))

    def known() -> bool:
        template = applied("--dry-run=server")["spec"]["template"]
        return "template" in template["metadata"]["labels"]

    until(known, "the policy is known", within_s=60)
    made = applied()
    [container] = made["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "500m", "memory": "64Mi"}
    assert container["env"][-1] == {"name": "QUERY", "value": query}
    assert made["spec"]["template"]["metadata"]["annotations"] == {"query": query}
    assert STAMP not in made["spec"]["template"]["metadata"].get("annotations", {})
    stamp = json.loads(made["metadata"]["annotations"][STAMP])
    # Applied again it is the very same object, and its pods are not rolled.
    again = applied()
    assert (again["metadata"]["generation"], again["metadata"]["annotations"][STAMP]) == (
        made["metadata"]["generation"],
        made["metadata"]["annotations"][STAMP],
    )

    # Whoever strips the stamp gets it back: else a share would be taken of the share.
    here = f"--namespace={namespace}"
    cluster.kubectl("annotate", "deployment/web", f"{STAMP}-", here)
    cluster.kubectl("set", "image", "deployment/web", "app=app:2", here)
    kept = cluster.get("deployment", "web", here)
    [container] = kept["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"]["cpu"] == "500m"
    assert json.loads(kept["metadata"]["annotations"][STAMP]) == stamp

    def journaled() -> bool:
        return nemutator(webhook, "mutations", stamp["id"]).returncode == 0

    until(journaled, "the brain has the decision", within_s=60)
    said = nemutator(webhook, "rollback", stamp["id"], "--yes")
    assert said.returncode == 0, said
    # kubectl writes what the manifest says, admission is asked, and leaves it so.
    for back in (cluster.get("deployment", "web", f"--namespace={namespace}"), applied()):
        [container] = back["spec"]["template"]["spec"]["containers"]
        assert container["resources"]["requests"]["cpu"] == "1"
        assert back["spec"]["template"]["metadata"]["labels"] == {"app": "web"}
        assert "annotations" not in back["spec"]["template"]["metadata"]
        assert "env" not in container
        assert STAMP not in back["metadata"]["annotations"]

    # Of its pods nothing was taken back, and another policy is for them.
    assert "template.metadata.annotations[query]" in nemutator(webhook, "tombstones", here).stdout
    cluster.kubectl("scale", "deployment/web", "--replicas=1", here)

    def annotations() -> list[Json]:
        pods = cluster.get("pods", here, "--selector=app=web")["items"]
        return [dict(each["metadata"].get("annotations", {})) for each in pods]

    until(annotations, "its ReplicaSet has made a pod", within_s=60)
    assert {each.get("query") for each in annotations()} == {"of pods"}
    cluster.kubectl("delete", "deployment", "web", f"--namespace={namespace}")
    cluster.kubectl("delete", "mutationpolicy", "template", "pods")


def workload(namespace: str) -> Json:
    template = pod(labels={"app": "web"})
    del template["metadata"]["generateName"], template["apiVersion"], template["kind"]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template,
        },
    }


@pytest.mark.timeout(180)
def test_the_api_server_asks_about_workloads_while_a_policy_is_for_templates(
    webhook: Webhook, namespace: str
) -> None:
    cluster = webhook.cluster
    installed = DEPLOY / "manifests" / "webhooks.yaml"
    cluster.kubectl("apply", "--filename=-", given=installed.read_text())

    def asked_about() -> list[str]:
        [entry] = (
            each
            for each in cluster.get("mutatingwebhookconfiguration", "nemutator")["webhooks"]
            if each["name"] == ENTRY
        )
        return [kind for rule in entry.get("rules") or () for kind in rule["resources"]]

    try:
        assert asked_about() == []
        label = {"labels": {"set": {"a": "b"}}}
        match = {"namespaces": [namespace], "ownerKinds": ["CronJob"]}
        cluster.apply(policy("rules", namespace, label, applyTo="template", match=match))
        until(lambda: asked_about() == ["cronjobs"], "the brain has written rules", within_s=60)
        cluster.kubectl("delete", "mutationpolicy", "rules")
        until(lambda: asked_about() == [], "the brain has taken them away", within_s=60)
    finally:
        cluster.kubectl("delete", "mutatingwebhookconfiguration", "nemutator")
