"""Uninstalling from the fake API server, by the client that the command has."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from nemutator_common import names
from nemutator_common.errors import OperatorError
from nemutator_controller.scaling.marks import RaisedMark
from nemutator_ctl.installation import files
from nemutator_ctl.installation.kube_objects import ApiServerObjects
from nemutator_ctl.installation.removal_steps import REVOKED_S, RemovalChoice, RemovalSteps
from nemutator_ctl.installation.rendered_manifests import everything

from scripts.crds import FOLDER
from tests.fakes.installations import (
    InstalledCluster,
    InstallingPerson,
    documents,
    pod_with_socket,
)
from tests.fakes.kube import kinds
from tests.fakes.kube.server import FakeKube

pytestmark = pytest.mark.slow


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[InstalledCluster]:
    async with FakeKube() as kube:
        found = InstalledCluster(kube, tmp_path)
        found.put(documents())
        yield found


async def uninstall(cluster: InstalledCluster, **given: Any) -> InstallingPerson:
    choice = RemovalChoice(
        **{
            "restarts": False,
            "force": False,
            "data": False,
            "definitions": False,
            "dry_run": None,
            "wait_s": 60.0,
            **given,
        }
    )
    shipped = files.shipped()

    def action(objects: ApiServerObjects, person: InstallingPerson) -> None:
        RemovalSteps(objects, person, person).remove(
            everything(shipped), shipped.definitions, choice, at="2026-11-26T00:00:00Z"
        )

    return await cluster.run(action)


async def test_the_webhook_goes_first_and_data_and_policies_stay(
    cluster: InstalledCluster,
) -> None:
    person = await uninstall(cluster)
    did = [name for name, _ in person.did]
    assert did[0] == "mutatingwebhookconfiguration.admissionregistration.k8s.io/nemutator"
    admission = did.index("deployment.apps/nemutator-admission")
    assert admission < did.index("daemonset.apps/nemutator-agent")
    assert did.index("statefulset.apps/nemutator-brain") < did.index(
        "serviceaccount/nemutator-brain"
    )
    assert "nemutator" in cluster.names(kinds.NAMESPACES)
    definitions = list(FOLDER.glob("*.json"))
    assert len(cluster.names(kinds.DEFINITIONS)) == len(definitions) > 0
    for kind in (kinds.DEPLOYMENTS, kinds.DAEMON_SETS, kinds.STATEFUL_SETS, kinds.CLUSTER_ROLES):
        assert not cluster.names(kind)
    # Nobody had a socket, so there is no token to wait for.
    assert person.elapsed_s == 0
    assert not (await uninstall(cluster)).did


async def test_all_of_it_goes_when_that_is_asked_for(cluster: InstalledCluster) -> None:
    await uninstall(cluster, data=True, definitions=True)
    assert "nemutator" not in cluster.names(kinds.NAMESPACES)
    assert not cluster.names(kinds.DEFINITIONS)


async def test_what_the_brain_wrote_on_nodes_and_autoscalers_goes_after_it(
    cluster: InstalledCluster,
) -> None:
    taint = {"key": str(names.PRESSURE), "value": "2", "effect": "PreferNoSchedule"}
    node: dict[str, Any] = {
        "metadata": {"name": "n1", "uid": "n1"},
        "spec": {"taints": [taint]},
    }
    cluster.kube.store.put(kinds.NODES, {"apiVersion": "v1", "kind": "Node", **node})
    mark = RaisedMark(base=2, raised=6, decision="d1", by="nemutator", uid="web").text
    metadata = {"name": "web", "namespace": "shop", "uid": "web"}
    raised = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {**metadata, "annotations": {str(names.RAISED_MINIMUM): mark}},
        "spec": {"minReplicas": 6, "maxReplicas": 9},
    }
    cluster.kube.store.put(kinds.AUTOSCALERS, raised)
    dry = await uninstall(cluster, dry_run="server")
    did = [name for name, outcome in dry.did if outcome == "given back"]
    assert did == ["node/n1", "horizontalpodautoscaler.autoscaling/web"]
    (found,) = cluster.kube.store.all(kinds.AUTOSCALERS)
    assert found["spec"]["minReplicas"] == 6

    person = await uninstall(cluster)
    order = [name for name, _ in person.did]
    assert order.index("statefulset.apps/nemutator-brain") < order.index("node/n1")
    (node,) = cluster.kube.store.all(kinds.NODES)
    assert not node["spec"]["taints"]
    (found,) = cluster.kube.store.all(kinds.AUTOSCALERS)
    assert found["spec"] == {"minReplicas": 2, "maxReplicas": 9}
    assert not (await uninstall(cluster)).did


async def test_the_agent_stays_while_a_pod_has_its_socket(cluster: InstalledCluster) -> None:
    cluster.add_pods([pod_with_socket("shop", "web-5f6-a", "web-5f6")])
    with pytest.raises(OperatorError, match="kubectl -n shop rollout restart deployment/web"):
        await uninstall(cluster)
    assert cluster.names(kinds.DAEMON_SETS) == {"nemutator-agent"}
    assert cluster.names(kinds.CSI_DRIVERS) == {"agent.nemutator.io"}
    # But nobody gets another one.
    assert not cluster.names(kinds.MUTATING_WEBHOOKS)


async def test_once_the_last_socket_is_gone_agents_have_time_to_revoke_its_token(
    cluster: InstalledCluster,
) -> None:
    cluster.add_pods([pod_with_socket("shop", "web-5f6-a", "web-5f6")])
    seen: list[set[str]] = []

    def pass_by() -> None:
        seen.append(cluster.names(kinds.DAEMON_SETS))
        if len(seen) == 3:
            cluster.kube.store.remove(kinds.PODS, "shop", "web-5f6-a")

    cluster.on_sleep.append(pass_by)
    person = await uninstall(cluster)
    assert person.elapsed_s >= REVOKED_S
    assert all(seen)
    assert not cluster.names(kinds.DAEMON_SETS)
    assert any("agents revoke the last tokens" in each for each in person.said)


async def test_workloads_are_made_anew_where_that_is_asked_for(cluster: InstalledCluster) -> None:
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "uid": "w"},
        "spec": {"template": {"metadata": {}}},
    }
    cluster.kube.store.put(kinds.DEPLOYMENTS, web)
    cluster.add_pods(
        [pod_with_socket("shop", "web-5f6-a", "web-5f6"), pod_with_socket("shop", "alone")]
    )

    def gone() -> None:
        for each in cluster.kube.store.all(kinds.PODS):
            cluster.kube.store.remove(kinds.PODS, "shop", each["metadata"]["name"])

    cluster.on_sleep.append(gone)
    person = await uninstall(cluster, restarts=True)
    (found,) = (
        each
        for each in cluster.kube.store.all(kinds.DEPLOYMENTS)
        if each["metadata"]["name"] == "web"
    )
    annotations = found["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {"kubectl.kubernetes.io/restartedAt": "2026-11-26T00:00:00Z"}
    assert any("kubectl -n shop delete pod/alone" in each for each in person.said)


async def test_who_insists_does_not_wait_for_pods(cluster: InstalledCluster) -> None:
    cluster.add_pods([pod_with_socket("shop", "web")])
    await uninstall(cluster, force=True)
    assert not cluster.names(kinds.DAEMON_SETS)


@pytest.mark.parametrize("way", ["client", "server"])
async def test_a_dry_run_says_what_would_go_and_changes_nothing(
    cluster: InstalledCluster, way: str
) -> None:
    cluster.add_pods([pod_with_socket("shop", "web")])
    version = cluster.kube.store.version
    person = await uninstall(cluster, dry_run=way, data=True)
    assert person.outcomes()["daemonset.apps/nemutator-agent"] == "deleted"
    assert person.outcomes()["namespace/nemutator"] == "deleted"
    assert "kubectl -n shop delete pod/web" in person.said[-1]
    assert cluster.kube.store.version == version


async def test_what_does_not_go_is_named(cluster: InstalledCluster) -> None:
    (agent,) = cluster.kube.store.all(kinds.DAEMON_SETS)
    metadata = {**agent["metadata"], "finalizers": ["example.com/held"]}
    cluster.kube.store.put(kinds.DAEMON_SETS, {**agent, "metadata": metadata})
    with pytest.raises(OperatorError, match=r"daemonset\.apps/nemutator-agent does not go"):
        await uninstall(cluster)
