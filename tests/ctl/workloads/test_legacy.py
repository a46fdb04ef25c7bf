from typing import Any

from nemutator_ctl.workloads.legacy import legacy_map, tree_answer

from tests.ctl.inventories import use

MI = 1 << 20


def container(name: str, cpu: float, **more: Any) -> dict[str, Any]:
    amounts = {"requests": use(cpu, 64 * MI), "limits": use(0.0, 128 * MI)}
    return {"name": name, "is_init": False, **amounts, **more}


def pod(name: str, replica_set: str, *containers: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "owner_kind": "ReplicaSet" if replica_set else "",
        "owner": replica_set,
        "ready": name != "web-2",
        "used": use(0.35, 350 * MI),
        "containers": list(containers),
    }


def branch(kind: str, name: str, *pods: dict[str, Any]) -> dict[str, Any]:
    workload = {
        "namespace": "shop",
        "kind": kind,
        "name": name,
        "replicas": {"wanted": 2, "ready": 1, "pods": len(pods), "pending": 0},
        "use": {"now": use(0.1, 1), "usual": use(0.2, 10 * MI), "worst": use(0.5, 20 * MI)},
    }
    return {"workload": workload, "pods": list(pods)}


APP = container("app", 0.25)
ANSWER = tree_answer(
    {
        "next": "",
        "namespaces": [
            {
                "workloads": [
                    branch(
                        "Deployment",
                        "web",
                        pod("web-1", "web-abc", APP, container("init", 9.0, is_init=True)),
                        pod("web-2", "web-abc", APP, container("proxy", 0.5)),
                        pod("web-3", "web-old", APP),
                    ),
                    branch("Pod", "bare", pod("bare", "", APP)),
                ]
            }
        ],
    }
)


def test_the_first_nemutators_lists_are_joined_by_names() -> None:
    found = legacy_map([ANSWER])
    assert list(found) == ["deployments", "replicas", "pods"]
    [deployment] = found["deployments"]
    assert deployment["deployment"] == "web"
    assert deployment["replicas"] == ["web-abc", "web-old"]
    assert deployment["pods"] == ["web-1", "web-2", "web-3"]
    assert deployment["replica_pods"] == 3
    assert deployment["resources"] == {
        "limits": {"cpu": 0, "memory": 4 * 128 * MI},
        "requests": {"cpu": 1.25, "memory": 4 * 64 * MI},
    }
    assert deployment["metrics"] == {
        "cpu": {"max": 500.0, "avg": 200.0},
        "mem": {"max": 20.0, "avg": 10.0},
    }
    one, two = found["replicas"]
    assert (one["replica"], one["owner"], one["namespace"]) == ("web-abc", "web", "shop")
    assert (one["replicas"], one["replicas_ready"], one["pods"]) == (2, 1, ["web-1", "web-2"])
    assert (two["replicas"], two["pods"]) == (1, ["web-3"])


def test_a_pod_has_its_containers_their_amounts_and_its_sums() -> None:
    pods = {each["pod"]: each for each in legacy_map([ANSWER])["pods"]}
    two = pods["web-2"]
    assert (two["owner"], two["replica"], two["deployment"]) == ("web-abc", "web-abc", "web")
    assert two["containers"] == ["app", "proxy"]
    assert two["requests"] == {"cpu": [0.25, 0.5], "memory": [64 * MI, 64 * MI]}
    assert two["resources"]["requests"] == {"cpu": 0.75, "memory": 128 * MI}
    assert two["limits"] == {"cpu": [], "memory": [128 * MI, 128 * MI]}
    assert pods["web-1"]["containers"] == ["app"]
    assert pods["bare"].keys() & {"owner", "replica", "deployment"} == set()
    assert pods["bare"]["metrics"]["cpu"] == {"max": 350.0, "avg": 350.0}
