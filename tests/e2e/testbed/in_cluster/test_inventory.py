"""What the brain says of a real cluster: its node, and a Deployment with an autoscaler, a budget and a Service."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.testbed.in_cluster.installation import Installation, nemutator, refusals
from tests.e2e.testbed.test_eviction import budget
from tests.e2e.testbed.workloads import container, replicated, wait_ready
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.running.waiting import until


def autoscaler(namespace: str) -> dict[str, Any]:
    target = {"type": "Utilization", "averageUtilization": 80}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 2,
            "maxReplicas": 5,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        },
    }


def service(namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "front", "namespace": namespace},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    }


@pytest.mark.timeout(300)  # pods that start on a machine that may be busy
def test_a_real_node_and_a_real_workload_are_counted_as_the_scheduler_does(
    installation: Installation,
    cluster: Cluster,
    image: ImageStore,
    namespace: str,
    tmp_path: Path,
) -> None:
    web = replicated("web", namespace, 2)
    amounts = {"requests": {"cpu": "20m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}}
    web["spec"]["template"]["spec"]["containers"] = [container(resources=amounts)]
    cluster.apply(web, autoscaler(namespace), budget(namespace, 1), service(namespace))
    wait_ready(cluster, namespace, "deployment/web")
    viewer, console = installation.token("viewer", audience=""), installation.console

    def got(path: str) -> Any:
        answer = installation.ask(console, path, token=viewer)
        assert answer.status == 200, answer.body
        return answer.json

    def shown() -> dict[str, Any]:
        items = got(f"/api/v1/workloads?namespace={namespace}")["items"]
        found: dict[str, Any] = next((each for each in items if each["name"] == "web"), {})
        return found

    def complete() -> bool:
        one = shown()
        scaled = one and one["autoscaler"] and one["disruption_budget"]
        return bool(scaled) and one["replicas"]["ready"] == 2

    until(complete, "the brain has seen the pods and what scales and protects them", within_s=60)
    one = shown()
    assert (one["kind"], one["replicas"]["wanted"], one["replicas"]["pods"]) == ("Deployment", 2, 2)
    assert one["requests"] == {"cpu_cores": 0.04, "memory_bytes": 32 << 20}
    assert one["limits"]["memory_bytes"] == 128 << 20
    assert (one["autoscaler"]["max_replicas"], one["autoscaler"]["metrics"]) == (5, ["cpu"])
    assert one["disruption_budget"]["min_available"] == 1
    assert one["vertical_autoscaler"] is None, "its definition is not installed"

    # What is requested of each node is what the scheduler counts: kubectl sums it in the same way.
    pods = cluster.get("pods", "--all-namespaces")["items"]
    [name] = {pod["spec"]["nodeName"] for pod in pods if pod["metadata"]["namespace"] == namespace}
    real = cluster.get("node", name)
    node = next(each for each in got("/api/v1/nodes")["items"] if each["name"] == name)
    assert (node["ready"], node["sums"]) == (True, None), "no agent reports it here"
    assert node["most_pods"] == int(real["status"]["allocatable"]["pods"])
    assert node["allocatable"]["cpu_cores"] == float(real["status"]["allocatable"]["cpu"])
    described = cluster.kubectl("describe", "node", name)
    [said] = [row.split() for row in described.splitlines() if row.split()[:1] == ["cpu"]][-1:]
    assert said[1] == f"{round(node['requested']['cpu_cores'] * 1000)}m", described

    tree = got(f"/api/v1/workloads?as=tree&namespace={namespace}")
    [branch] = tree["namespaces"]
    [found] = [each for each in branch["workloads"] if each["workload"]["name"] == "web"]
    assert {pod["node"] for pod in found["pods"]} == {name}
    graph = got(f"/api/v1/workloads?as=graph&namespace={namespace}")
    deployment = f"Deployment/{namespace}/web"
    relations = {(each["source"], each["relation"]) for each in graph["edges"]}
    relations &= {
        (each["source"], each["relation"])
        for each in graph["edges"]
        if each["target"] == deployment
    }
    assert relations == {
        (f"HorizontalPodAutoscaler/{namespace}/web", "scales"),
        (f"PodDisruptionBudget/{namespace}/web", "protects"),
        (f"Service/{namespace}/front", "reaches"),
    }
    assert got(f"/api/v1/flows?namespace={namespace}")["items"] == []

    listed = nemutator(
        installation, viewer, tmp_path, "workloads", f"--namespace={namespace}", "-o", "wide"
    )
    print(listed.stdout)
    assert (listed.returncode, "2-5" in listed.stdout) == (0, True), listed
    nodes = nemutator(installation, viewer, tmp_path, "nodes")
    print(nodes.stdout)
    assert name in nodes.stdout
    exported = nemutator(
        installation, viewer, tmp_path, "workloads", f"--namespace={namespace}", "--format=legacy"
    )
    [first] = json.loads(exported.stdout)["deployments"]
    assert (first["deployment"], len(first["pods"])) == ("web", 2)

    stranger = installation.token("stranger", audience="")
    for path in ("/api/v1/nodes", "/api/v1/workloads", "/api/v1/flows"):
        assert installation.ask(console, path, token=stranger).status == 403
    # A RoleBinding in the namespace is enough for what is in it.
    viewing = f"--clusterrole=nemutator-viewer-{installation.namespace}"
    subject = f"--serviceaccount={installation.namespace}:stranger"
    cluster.kubectl("create", "rolebinding", "seeing", viewing, subject, f"-n={namespace}")

    def let_in() -> bool:
        path = f"/api/v1/workloads?namespace={namespace}"
        return installation.ask(console, path, token=stranger).status == 200

    until(let_in, "the API server knows of the binding", within_s=60)
    assert installation.ask(console, "/api/v1/workloads", token=stranger).status == 403
    assert refusals(installation) == []
