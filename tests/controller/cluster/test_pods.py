import msgspec
import pytest
from nemutator_controller.cluster.pods import NoRunningPods, PodOwner, RunningPod
from nemutator_controller.kube.objects import ContainerStatus, Object, Owner, Pod

from tests.fakes.pods import kube_object, owned, picture, pod

DEPLOYED = owned("ReplicaSet", "web-abc", "rs1")
REPLICA_SET = kube_object("web-abc", "rs1", owned("Deployment", "web", "d1"))


def test_a_container_is_found_by_its_pods_uid_and_its_own_id() -> None:
    seen = picture(pod(owners=DEPLOYED), replica_sets=(REPLICA_SET,))
    placed = RunningPod("shop", "web-abc-1", "u1", "app", PodOwner("Deployment", "web"))
    assert seen.of("n1", "u1", "c1") == placed


def test_a_sidecar_is_a_container_with_a_name() -> None:
    """Kubernetes lists it among the init containers; it runs as long as the pod."""
    proxy = ContainerStatus(name="proxy", container_id="containerd://c2")
    status = msgspec.structs.replace(pod().status, init_container_statuses=(proxy,))
    placed = picture(msgspec.structs.replace(pod(), status=status)).of("n1", "u1", "c2")
    assert placed is not None
    assert placed.container == "proxy"


def test_a_pods_own_cgroup_is_the_pod_and_an_unknown_container_has_no_name() -> None:
    seen = picture(pod())
    for container_id in (None, "other", "c"):
        placed = seen.of("n1", "u1", container_id)
        assert placed is not None
        assert (placed.pod, placed.container) == ("web-abc-1", None)


def test_a_node_speaks_for_its_own_pods_only() -> None:
    assert picture(pod(node="n1")).of("n2", "u1", "c1") is None
    assert picture(pod(node="")).of("n1", "u1", "c1") is None


@pytest.mark.parametrize("node", ["n1", "n2", ""])
@pytest.mark.parametrize("uid", ["u1", "u2"])
def test_the_namespace_of_a_pod_is_the_one_that_it_is_found_in(node: str, uid: str) -> None:
    seen = picture(pod(node=node))
    placed = seen.of("n1", uid, None)
    assert seen.namespace_of("n1", uid) == (placed.namespace if placed else None)
    assert NoRunningPods().namespace_of("n1", uid) is None


def test_what_is_no_pod_is_nobodys() -> None:
    assert picture(pod()).of("n1", None, "c1") is None
    assert picture(pod()).of("n1", "u2", "c1") is None
    assert NoRunningPods().of("n1", "u1", "c1") is None


@pytest.mark.parametrize(
    ("seen", "replica_sets", "jobs", "owner"),
    [
        (pod(), (), (), PodOwner("Pod", "web-abc-1")),
        (pod(owners=owned("DaemonSet", "logs", "d")), (), (), PodOwner("DaemonSet", "logs")),
        (pod(owners=DEPLOYED), (REPLICA_SET,), (), PodOwner("Deployment", "web")),
        (
            pod(owners=DEPLOYED),
            (kube_object("web-abc", "rs1"),),
            (),
            PodOwner("ReplicaSet", "web-abc"),
        ),
        (
            pod(owners=owned("Job", "night-1", "j1")),
            (),
            (kube_object("night-1", "j1", owned("CronJob", "night", "c1")),),
            PodOwner("CronJob", "night"),
        ),
        # Another object of the same name is not its owner.
        (
            pod(owners=DEPLOYED),
            (kube_object("web-abc", "rs2", owned("Deployment", "x", "d")),),
            (),
            PodOwner("ReplicaSet", "web-abc"),
        ),
        # Not seen yet, but named as the deployment controller names them.
        (
            pod(owners=DEPLOYED, labels={"pod-template-hash": "abc"}),
            (),
            (),
            PodOwner("Deployment", "web"),
        ),
        (
            pod(owners=DEPLOYED, labels={"pod-template-hash": "zzz"}),
            (),
            (),
            PodOwner("ReplicaSet", "web-abc"),
        ),
    ],
)
def test_the_owner_is_the_top_of_the_chain(
    seen: Pod, replica_sets: tuple[Object, ...], jobs: tuple[Object, ...], owner: PodOwner
) -> None:
    assert picture(seen, replica_sets=replica_sets, jobs=jobs).owner(seen) == owner


def test_the_pods_of_a_workload_are_found_whichever_replica_set_made_them() -> None:
    rollout = owned("Rollout", "web", "r1")
    sets = (kube_object("web-abc", "rs1", rollout), kube_object("web-xyz", "rs2", rollout))
    made = [
        pod(name, uid=name, owners=owned("ReplicaSet", of, by))
        for name, of, by in (
            ("a", "web-abc", "rs1"),
            ("b", "web-abc", "rs1"),
            ("c", "web-xyz", "rs2"),
            # Its ReplicaSet is not seen yet.
            ("d", "new", "rs3"),
            ("e", "new", "rs3"),
        )
    ]
    others = pod("f", uid="f", owners=owned("StatefulSet", "db", "s1")), pod("g", uid="g")
    seen = picture(*made, *others, replica_sets=sets)

    def together(uid: str) -> set[str]:
        found = seen.pod(uid)
        assert found is not None
        return {each.metadata.uid for each in seen.together(found)}

    assert together("a") == together("c") == {"a", "b", "c"}
    assert together("d") == {"d", "e"}
    assert (together("f"), together("g")) == ({"f"}, {"g"})


def test_a_namespace_is_held_by_the_nodes_of_its_pods() -> None:
    seen = picture(pod(node="n1"))
    assert seen.holding("shop") == frozenset({"n1"})
    assert seen.holding("elsewhere") is None


def test_the_pods_of_a_manager_are_together_and_who_has_none_is_alone() -> None:
    other = owned("ReplicaSet", "db-abc", "rs2")
    unmanaged = (Owner("Node", "n1", "n"),)
    seen = picture(
        pod("a", uid="u1", owners=DEPLOYED),
        pod("b", uid="u2", owners=DEPLOYED),
        pod("c", uid="u3", owners=DEPLOYED),
        pod("d", uid="u4", owners=other),
        pod("e", uid="u5", owners=unmanaged),
        pod("f", uid="u6", owners=unmanaged),
        pod("g", uid="u7"),
        pod("h", uid="u8"),
    )
    families = ["".join(sorted(pod.metadata.name for pod in pods)) for pods in seen.families()]
    assert sorted(families) == ["abc", "d", "e", "f", "g", "h"]
