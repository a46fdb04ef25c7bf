"""What each verb of a policy makes of an object that a real API server takes."""

import json
from typing import Any

from tests.e2e.testbed.webhook import Webhook, asked, asking, create, pod, policy
from tests.testbed.running.waiting import until

NEAR = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
NODE_NAME = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}


def test_each_verb_changes_what_a_pod_is_made_of(called: Webhook, namespace: str) -> None:
    cluster = called.cluster
    priority: dict[str, Any] = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": f"{namespace}-high"},
        "value": 1000,
    }
    runtime: dict[str, Any] = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": f"{namespace}-other"},
        "handler": "runc",
    }
    cluster.apply(priority, runtime)
    cluster.apply(
        policy(
            "verbs",
            namespace,
            {"labels": {"set": {"verbs": "all"}}},
            {"nodeSelector": {"set": {"disk": "ssd"}}},
            {"tolerations": {"add": [{"key": "gpu", "operator": "Exists"}]}},
            {"env": {"set": [{"name": "LOG", "value": "info"}], "add": [NODE_NAME]}},
            {"affinity": {"podAntiAffinity": {"required": [NEAR]}}},
            {"affinity": {"nodeAffinity": {"required": [{"key": "disk", "operator": "Exists"}]}}},
            {"topologySpreadConstraints": {"add": [NEAR]}},
            {"securityContext": {"pod": {"fsGroup": 7}, "container": {"runAsUser": 5}}},
            {"priorityClassName": {"add": f"{namespace}-high"}},
            {"schedulerName": {"set": "mine"}},
            {"image": {"move": [{"from": "docker.io", "to": "mirror.example:5000/hub"}]}},
            {"imagePullPolicy": {"set": "Always"}},
            {"imagePullSecrets": {"add": ["mirror"]}},
            {"envFrom": {"add": [{"configMap": "common"}]}},
            {"volumes": {"add": [{"name": "ca", "configMap": "ca", "mountPath": "/etc/ca"}]}},
            {"emptyDir": {"sizeLimit": "1Gi"}},
            {"dnsConfig": {"options": {"set": {"ndots": "2"}}}},
            {"enableServiceLinks": {"set": False}},
            {"automountServiceAccountToken": {"set": False}},
            {"runtimeClassName": {"add": f"{namespace}-other"}},
            {
                "sidecars": {
                    "add": [{"name": "proxy", "image": "proxy:1", "requests": {"cpu": "10m"}}]
                }
            },
        )
    )
    called.until_known(namespace, "verbs")
    manifest = pod("verbs")
    manifest["spec"]["volumes"] = [{"name": "tmp", "emptyDir": {}}]
    made = create(cluster, namespace, manifest)
    spec = made["spec"]
    # The token that the server had mounted is gone, too.
    assert {each["name"] for each in spec["volumes"]} == {"tmp", "ca"}
    assert spec["volumes"][0]["emptyDir"] == {"sizeLimit": "1Gi"}
    assert spec["containers"][0]["volumeMounts"] == [
        {"name": "ca", "mountPath": "/etc/ca", "readOnly": True}
    ]
    assert spec["containers"][0]["envFrom"] == [{"configMapRef": {"name": "common"}}]
    assert spec["dnsConfig"] == {"options": [{"name": "ndots", "value": "2"}]}
    assert (spec["enableServiceLinks"], spec["automountServiceAccountToken"]) == (False, False)
    [proxy] = spec["initContainers"]
    assert (proxy["name"], proxy["restartPolicy"]) == ("proxy", "Always")
    # What comes before it in the policy reaches it, too.
    assert {"name": "LOG", "value": "info"} in proxy["env"]
    assert spec["runtimeClassName"] == f"{namespace}-other"
    assert spec["nodeSelector"] == {"disk": "ssd"}
    assert {"key": "gpu", "operator": "Exists"} in spec["tolerations"]
    # The server had written 0, the number of no class, before it asked us.
    assert (spec["priorityClassName"], spec["priority"]) == (f"{namespace}-high", 1000)
    assert spec["schedulerName"] == "mine"
    assert spec["imagePullSecrets"] == [{"name": "mirror"}]
    assert spec["containers"][0]["imagePullPolicy"] == "Always"
    assert spec["containers"][0]["image"].startswith("mirror.example:5000/hub/")
    stored = {"apiVersion": "v1", "fieldPath": "spec.nodeName"}
    assert spec["containers"][0]["env"] == [
        {"name": "LOG", "value": "info"},
        {"name": "NODE", "valueFrom": {"fieldRef": stored}},
    ]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    assert spec["affinity"]["podAntiAffinity"] == {required: [NEAR]}
    [term] = spec["affinity"]["nodeAffinity"][required]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
    [spread] = spec["topologySpreadConstraints"]
    assert spread == {**NEAR, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
    assert spec["securityContext"] == {"fsGroup": 7}
    assert spec["containers"][0]["securityContext"] == {"runAsUser": 5}
    # What came out, made anew, is left as it is.
    again = {key: made[key] for key in ("apiVersion", "kind", "spec")}
    again["metadata"] = {
        "name": "again",
        "labels": made["metadata"]["labels"],
        "annotations": made["metadata"]["annotations"],
    }
    same = create(cluster, namespace, again)["spec"]
    assert {**same, "containers": []} == {**spec, "containers": []}
    assert len(called.decisions_in(namespace)) == 1
    cluster.kubectl("delete", "mutationpolicy", "verbs")
    cluster.kubectl("delete", "priorityclass", f"{namespace}-high")
    cluster.kubectl("delete", "runtimeclass", f"{namespace}-other")


def test_a_new_selector_changes_with_its_template_and_an_old_one_stays(
    called: Webhook, namespace: str
) -> None:
    cluster = called.cluster

    def applied(name: str, *more: str) -> dict[str, Any]:
        text = json.dumps(deployment(namespace, name))
        printed = cluster.kubectl("apply", "--filename=-", "--output=json", *more, given=text)
        return dict(json.loads(printed))

    old = applied("old")
    rename = {"selectors": {"rename": {"app": "example.org/name"}}}
    cluster.apply(policy("selectors", namespace, rename, applyTo="template"))

    def known() -> bool:
        return "app" not in applied("new", "--dry-run=server")["spec"]["selector"]["matchLabels"]

    until(known, "the policy is known", within_s=60)
    made = applied("new")
    labels = {"example.org/name": "new"}
    assert made["spec"]["selector"]["matchLabels"] == labels
    assert made["spec"]["template"]["metadata"]["labels"] == labels
    # Who applies it again asks for the old selector, which the server would refuse.
    again = applied("new")
    assert again["spec"] == made["spec"]
    assert again["metadata"]["generation"] == made["metadata"]["generation"]
    changed = deployment(namespace, "old")
    changed["spec"]["template"]["metadata"]["labels"]["version"] = "2"
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/old"
    with asking(cluster) as connection:
        status, body, warning = asked(connection, cluster, path, changed, method="PUT")
    assert status == 200, body
    assert body["spec"]["selector"] == old["spec"]["selector"]
    assert "an existing selector cannot be changed" in warning
    cluster.kubectl("delete", "mutationpolicy", "selectors")


def deployment(namespace: str, name: str) -> dict[str, Any]:
    template = pod(labels={"app": name})
    del template["metadata"]["generateName"], template["apiVersion"], template["kind"]
    selector = {"matchLabels": {"app": name}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 0, "selector": selector, "template": template},
    }
