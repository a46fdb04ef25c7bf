"""Installing into the fake API server, by the client that the command has."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.installation import files
from nemutator_ctl.installation.install_steps import InstallSteps, kept
from nemutator_ctl.installation.kube_objects import ApiServerObjects
from nemutator_ctl.installation.rendered_manifests import chosen, left_out

from tests.fakes.installations import InstalledCluster, InstallingPerson, documents
from tests.fakes.kube import kinds
from tests.fakes.kube.server import FakeKube

pytestmark = pytest.mark.slow


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[InstalledCluster]:
    async with FakeKube() as kube:
        yield InstalledCluster(kube, tmp_path)


async def install(
    cluster: InstalledCluster,
    *,
    force: bool = False,
    dry_run: bool = False,
    wait_s: float | None = 600.0,
    **values: Any,
) -> InstallingPerson:
    shipped = files.shipped()
    unwanted = left_out(shipped, chosen(shipped, values))

    def action(objects: ApiServerObjects, person: InstallingPerson) -> None:
        InstallSteps(objects, person, person, force=force, dry_run=dry_run).install(
            documents(**values), unwanted, wait_s=wait_s
        )

    return await cluster.run(action)


async def test_the_brain_is_ready_before_what_waits_for_it_and_webhooks_come_last(
    cluster: InstalledCluster,
) -> None:
    person = await install(cluster)
    did = [name for name, _ in person.did]
    assert did[0] == "namespace/nemutator"
    assert did[1].startswith("customresourcedefinition.")
    assert did[-1] == "mutatingwebhookconfiguration.admissionregistration.k8s.io/nemutator"
    assert set(person.outcomes().values()) == {"created"}
    brain = did.index("statefulset.apps/nemutator-brain")
    assert brain < did.index("daemonset.apps/nemutator-agent")
    waited = [each.split(":")[0] for each in person.said]
    assert (
        waited
        == [
            "waiting for statefulset.apps/nemutator-brain",
            "waiting for daemonset.apps/nemutator-agent",
            "waiting for deployment.apps/nemutator-admission",
        ][: len(waited)]
    )
    assert waited[0].endswith("nemutator-brain")


async def test_the_same_again_changes_nothing_and_a_value_changes_what_it_is_for(
    cluster: InstalledCluster,
) -> None:
    await install(cluster)
    again = await install(cluster)
    assert set(again.outcomes().values()) == {"unchanged"}
    changed = await install(cluster, admission={"replicas": 5}, wait_s=None)
    configured = {name for name, outcome in changed.did if outcome == "configured"}
    assert configured == {"deployment.apps/nemutator-admission"}


async def test_what_the_brain_has_written_is_kept(cluster: InstalledCluster) -> None:
    await install(cluster)
    store = cluster.kube.store
    (live,) = store.all(kinds.MUTATING_WEBHOOKS)
    rules = [{"apiGroups": ["apps"], "resources": ["deployments"], "operations": ["CREATE"]}]

    def patch(objects: ApiServerObjects, person: InstallingPerson) -> None:
        webhooks = [
            each
            | {"clientConfig": {**each["clientConfig"], "caBundle": "QUJD"}}
            | ({"rules": rules} if each["name"].startswith("templates") else {})
            for each in live["webhooks"]
        ]
        objects._server.ask(
            "PATCH",
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/nemutator",
            query={"fieldManager": "brain"},
            document={"webhooks": webhooks},
            content_type="application/merge-patch+json",
        )

    await cluster.run(patch)
    await install(cluster, admission={"replicas": 4}, wait_s=None)
    (after,) = store.all(kinds.MUTATING_WEBHOOKS)
    assert {each["clientConfig"]["caBundle"] for each in after["webhooks"]} == {"QUJD"}
    assert after["webhooks"][-1]["rules"][0]["resources"] == ["deployments"]


async def test_a_field_that_somebody_else_has_set_is_theirs_unless_it_is_taken(
    cluster: InstalledCluster,
) -> None:
    await install(cluster)

    def scale(objects: ApiServerObjects, person: InstallingPerson) -> None:
        objects._server.ask(
            "PATCH",
            "/apis/apps/v1/namespaces/nemutator/deployments/nemutator-admission",
            query={"fieldManager": "kubectl-scale"},
            document={"spec": {"replicas": 7}},
            content_type="application/merge-patch+json",
        )

    await cluster.run(scale)
    with pytest.raises(OperatorError, match="kubectl-scale") as refused:
        await install(cluster, wait_s=None)
    assert refused.value.code is ExitCode.FAILED
    assert "--force-conflicts" in refused.value.remedy
    await install(cluster, force=True, wait_s=None)
    (deployment,) = cluster.kube.store.all(kinds.DEPLOYMENTS)
    assert deployment["spec"]["replicas"] == 2


async def test_a_part_that_is_switched_off_goes_and_what_others_made_stays(
    cluster: InstalledCluster,
) -> None:
    await install(cluster)
    theirs = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1}
    cluster.kube.store.put(
        kinds.PRIORITY_CLASSES, {**theirs, "metadata": {"name": "nemutator-buffer"}}
    )
    person = await install(
        cluster, admission={"enabled": False}, credentials={"enabled": False}, wait_s=None
    )
    deleted = [name for name, outcome in person.did if outcome == "deleted"]
    assert deleted[0] == "mutatingwebhookconfiguration.admissionregistration.k8s.io/nemutator"
    assert "csidriver.storage.k8s.io/agent.nemutator.io" in deleted
    assert not cluster.names(kinds.DEPLOYMENTS)
    assert cluster.names(kinds.DAEMON_SETS) == {"nemutator-agent"}
    assert cluster.names(kinds.PRIORITY_CLASSES) == {"nemutator-buffer"}


async def test_what_does_not_get_ready_in_time_is_named_with_what_its_pods_say(
    cluster: InstalledCluster,
) -> None:
    cluster.broken.add("nemutator-brain")
    labels = {"app.kubernetes.io/name": "nemutator", "app.kubernetes.io/component": "brain"}
    state = {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}
    cluster.add_pods(
        [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "b-0", "namespace": "nemutator", "uid": "b", "labels": labels},
                "spec": {},
                "status": {"containerStatuses": [{"name": "brain", "state": state}]},
            }
        ]
    )
    with pytest.raises(OperatorError, match="ImagePullBackOff") as refused:
        await install(cluster, wait_s=5.0)
    assert refused.value.code is ExitCode.FAILED
    # Nobody is asked about pods before somebody answers.
    assert not cluster.names(kinds.MUTATING_WEBHOOKS)


async def test_a_dry_run_asks_the_server_and_changes_nothing(cluster: InstalledCluster) -> None:
    first = await install(cluster, dry_run=True)
    assert first.outcomes()["namespace/nemutator"] == "created"
    assert "cannot be tried before its namespace is there" in first.said[-1]
    assert "nemutator" not in cluster.names(kinds.NAMESPACES)
    await install(cluster)
    version = cluster.kube.store.version
    second = await install(cluster, dry_run=True, admission={"enabled": False})
    assert second.outcomes()["deployment.apps/nemutator-admission"] == "deleted"
    assert cluster.kube.store.version == version


async def test_what_helm_has_installed_is_left_to_helm(cluster: InstalledCluster) -> None:
    await install(cluster)
    (brain,) = cluster.kube.store.all(kinds.STATEFUL_SETS)
    annotations = {"meta.helm.sh/release-name": "nemutator"}
    metadata = {**brain["metadata"], "annotations": annotations}
    cluster.kube.store.put(kinds.STATEFUL_SETS, {**brain, "metadata": metadata})
    with pytest.raises(OperatorError, match="Helm has installed it"):
        await install(cluster)


async def test_a_kind_that_the_cluster_does_not_have_is_named(cluster: InstalledCluster) -> None:
    metrics = {"enabled": True, "podMonitor": {"enabled": True}}
    with pytest.raises(OperatorError, match="podmonitor"):
        await install(cluster, metrics=metrics, wait_s=None)


def test_the_number_of_reserved_pods_is_the_brains_to_say() -> None:
    (buffer,) = (
        each
        for each in documents(buffer={"enabled": True, "image": "pause:1"})
        if (each["kind"], each["metadata"]["name"]) == ("Deployment", "nemutator-buffer")
    )
    assert kept(buffer, None)["spec"]["replicas"] == 0
    assert kept(buffer, {"spec": {"replicas": 4}})["spec"]["replicas"] == 4
