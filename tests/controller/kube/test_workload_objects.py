import json
from typing import Any

import pytest
from nemutator_controller.kube.decoder import Decoder
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.workload_objects import (
    Autoscaler,
    DisruptionBudget,
    VerticalAutoscaler,
    WatchedWorkload,
)

METADATA = {"name": "web", "namespace": "shop"}
CONTAINERS = [{"name": "app", "resources": {"requests": {"cpu": "250m"}}}]
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": CONTAINERS}}


def workload(spec: dict[str, Any], status: dict[str, Any]) -> WatchedWorkload:
    manifest = {"metadata": METADATA, "spec": spec, "status": status}
    return Decoder(WatchedWorkload).object(json.dumps(manifest).encode())


def test_a_template_shares_its_containers_with_its_pods() -> None:
    deployment = workload(
        {"replicas": 3, "strategy": {"type": "RollingUpdate"}, "template": TEMPLATE},
        {"replicas": 3, "readyReplicas": 2, "unavailableReplicas": 1},
    )
    manifest = {"metadata": METADATA, "spec": {"nodeName": "n1", "containers": CONTAINERS}}
    pod = Decoder(Pod).object(json.dumps(manifest).encode())
    assert deployment.spec.template.spec.containers is pod.spec.containers
    assert (deployment.spec.replicas, deployment.status.ready_replicas) == (3, 2)
    assert deployment.spec.strategy.type == "RollingUpdate"
    assert deployment.spec.template.metadata.labels == {"app": "web"}


def test_what_is_active_is_a_number_of_pods_or_a_list_of_jobs() -> None:
    job = workload({"parallelism": 2, "template": TEMPLATE}, {"active": 2, "ready": 1})
    assert (job.status.active, job.spec.parallelism) == (2, 2)
    template = {"spec": {"template": TEMPLATE}}
    cron_job = workload(
        {"schedule": "0 3 * * *", "suspend": True, "jobTemplate": template},
        {"active": [{"kind": "Job", "name": "night-1"}]},
    )
    assert cron_job.status.active == 1
    assert cron_job.spec.suspend
    assert cron_job.spec.job_template.spec.template.spec.containers[0].name == "app"


def test_autoscalers_say_whom_they_scale_and_by_what() -> None:
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 2,
        "maxReplicas": 9,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {}}}],
    }
    status = {"currentReplicas": 2, "desiredReplicas": 4, "currentMetrics": None}
    manifest = {"metadata": METADATA, "spec": spec, "status": status}
    found = Decoder(Autoscaler).object(json.dumps(manifest).encode())
    assert (found.spec.scale_target_ref.kind, found.spec.scale_target_ref.name) == (
        "Deployment",
        "web",
    )
    assert found.spec.metrics is not None
    assert [each.resource.name for each in found.spec.metrics] == ["cpu"]
    assert found.status.desired_replicas == 4
    vertical = {
        "metadata": METADATA,
        "spec": {"targetRef": {"kind": "Deployment", "name": "web"}, "updatePolicy": None},
    }
    seen = Decoder(VerticalAutoscaler).object(json.dumps(vertical).encode())
    assert seen.spec.target_ref.name == "web"
    assert seen.spec.update_policy is None


def budget(selector: Any) -> DisruptionBudget:
    manifest = {"metadata": METADATA, "spec": {"selector": selector, "minAvailable": "50%"}}
    return Decoder(DisruptionBudget).object(json.dumps(manifest).encode())


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ({"key": "app", "operator": "In", "values": ["web", "db"]}, True),
        ({"key": "app", "operator": "NotIn", "values": ["web"]}, False),
        ({"key": "tier", "operator": "NotIn", "values": ["x"]}, True),
        ({"key": "app", "operator": "Exists"}, True),
        ({"key": "app", "operator": "DoesNotExist", "values": None}, False),
        ({"key": "app", "operator": "Never"}, False),
    ],
)
def test_a_budget_selects_by_expressions(expression: Any, selected: bool) -> None:
    selector = budget({"matchExpressions": [expression]}).spec.selector
    assert selector is not None
    assert selector.selects({"app": "web"}) is selected


def test_a_budget_selects_by_labels_and_an_empty_selector_everything() -> None:
    selector = budget({"matchLabels": {"app": "web"}}).spec.selector
    assert selector is not None
    assert selector.selects({"app": "web"})
    assert not selector.selects({"app": "db"})
    everything = budget({}).spec.selector
    assert everything is not None
    assert everything.selects({})
    assert budget(None).spec.selector is None
