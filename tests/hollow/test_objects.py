"""What is written is what our own client reads, and hangs together as a cluster's objects do."""

import json
import re

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.objects import Pod, PodSpec

from tests.hollow import nodes, pods, workloads
from tests.hollow.plan import LABEL, Life, Plan

NOW = 1_700_000_000.5
DNS = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")

lives = st.builds(
    lambda seed, which, ends: _life(seed, which, ends),
    st.integers(0, 500),
    st.integers(0, 199),
    st.integers(0, 3),
)


def _life(seed: int, which: int, ends: int) -> Life:
    life = list(Plan(nodes=7, pods=200, seed=seed).lives())[which]
    return Life(life.workload, life.seat, ends)


def read_pod(life: Life) -> Pod:
    manifest = pods.pod(life, replica_set_uid="owner-uid")
    status = pods.running(life, now=NOW)
    return msgspec.json.decode(json.dumps({**manifest, "status": status}), type=Pod)


@given(lives)
def test_a_pod_is_running_and_ready_on_a_node_of_its_fleet(life: Life) -> None:
    pod = read_pod(life)
    assert pod.spec.node_name in life.workload.plan.node_names
    status = pods.running(life, now=NOW)
    assert status["phase"] == "Running"
    conditions = {each["type"]: each["status"] for each in status["conditions"]}
    assert conditions["Ready"] == conditions["ContainersReady"] == "True"
    assert [each.name for each in pod.status.container_statuses] == [
        each.name for each in pod.spec.containers
    ]
    assert all(each["ready"] for each in status["containerStatuses"])


@given(lives)
def test_container_ids_are_as_a_runtime_gives_them_and_never_given_twice(life: Life) -> None:
    ids = [
        status.container_id
        for lived in (life, life.next)
        for status in read_pod(lived).status.container_statuses
    ]
    assert all(re.fullmatch(r"containerd://[0-9a-f]{64}", each) for each in ids)
    assert len(set(ids)) == len(ids)


@given(lives)
def test_names_are_such_as_the_server_takes(life: Life) -> None:
    workload = life.workload
    for name in (life.name, workload.name, workload.replica_set_name, workload.namespace):
        assert DNS.fullmatch(name)
        assert len(name) <= 63
    for value in workloads.pod_labels(workload).values():
        assert len(value) <= 63


@given(lives)
def test_a_pod_belongs_to_its_replica_set_and_that_to_its_deployment(life: Life) -> None:
    workload = life.workload
    owner = read_pod(life).metadata.controller
    assert owner is not None
    assert (owner.kind, owner.name, owner.uid) == (
        "ReplicaSet",
        workload.replica_set_name,
        "owner-uid",
    )
    replica_set = workloads.replica_set(workload, deployment_uid="top-uid")
    (top,) = replica_set["metadata"]["ownerReferences"]
    assert (top["kind"], top["name"], top["uid"]) == ("Deployment", workload.name, "top-uid")


@given(lives)
def test_selectors_take_the_pods_and_the_templates_of_their_workload(life: Life) -> None:
    workload = life.workload
    labels = read_pod(life).metadata.labels
    for manifest in (
        workloads.deployment(workload),
        workloads.replica_set(workload, deployment_uid="uid"),
    ):
        wanted = manifest["spec"]["selector"]["matchLabels"]
        assert wanted.items() <= labels.items()
        assert wanted.items() <= manifest["spec"]["template"]["metadata"]["labels"].items()


@given(lives)
def test_a_workload_asks_for_what_its_pods_ask_for(life: Life) -> None:
    spec = workloads.deployment(life.workload)["spec"]
    assert spec["replicas"] == life.workload.replicas
    template = msgspec.convert(spec["template"]["spec"], PodSpec)
    assert template.containers == read_pod(life).spec.containers


@given(lives)
def test_controllers_can_make_no_pods_of_a_template_while_ours_are_accepted(life: Life) -> None:
    replica_set = workloads.replica_set(life.workload, deployment_uid="uid")
    assert replica_set["spec"]["template"]["spec"]["priorityClassName"] == workloads.REFUSED
    assert "priorityClassName" not in pods.pod(life, replica_set_uid="uid")["spec"]
    assert workloads.deployment(life.workload)["spec"]["paused"] is True


@given(st.integers(0, 99), st.integers(0, 1000))
def test_a_node_is_ready_and_has_more_than_it_gives_away(number: int, seed: int) -> None:
    plan = Plan(nodes=100, pods=0, seed=seed)
    status = nodes.node_status(plan, number, ready_since=NOW - 60, now=NOW)
    assert {each["type"]: each["status"] for each in status["conditions"]} == {
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "Ready": "True",
    }
    assert int(status["capacity"]["cpu"]) * 1000 > int(status["allocatable"]["cpu"][:-1])
    for condition in status["conditions"]:
        assert condition["lastTransitionTime"] < condition["lastHeartbeatTime"]


def test_no_other_pod_is_scheduled_to_a_hollow_node() -> None:
    (taint,) = nodes.node(Plan(nodes=1, pods=0, name="mine"), 0)["spec"]["taints"]
    assert taint == {"key": LABEL, "value": "mine", "effect": "NoSchedule"}


def test_a_lease_is_its_nodes_and_is_renewed_to_the_microsecond() -> None:
    lease = nodes.lease(Plan(nodes=3, pods=0), 2, node_uid="uid", now=NOW)
    assert lease["metadata"]["name"] == "hollow-node-00002" == lease["spec"]["holderIdentity"]
    assert lease["metadata"]["ownerReferences"][0]["uid"] == "uid"
    assert nodes.renewed(NOW) == {"renewTime": "2023-11-14T22:13:20.500000Z"}


@given(lives)
def test_everything_of_a_fleet_is_found_by_its_label(life: Life) -> None:
    plan = life.workload.plan
    for manifest in (
        nodes.node(plan, 0),
        nodes.lease(plan, 0, node_uid="uid", now=NOW),
        workloads.deployment(life.workload),
        workloads.replica_set(life.workload, deployment_uid="uid"),
        pods.pod(life, replica_set_uid="uid"),
    ):
        assert manifest["metadata"]["labels"][LABEL] == plan.name
