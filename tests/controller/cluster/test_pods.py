import msgspec
import pytest
from nemutator_controller.cluster.pods import NoRunningPods, PodOwner, RunningPod
from nemutator_controller.kube.objects import ContainerStatus, Object, Pod

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
