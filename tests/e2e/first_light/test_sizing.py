"""Advice from real usage, given to pods on a real kubelet: while they run, when they come, and by an eviction; and
taken back."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.first_light.installation import SAMPLE, Installation, delete_namespaces
from tests.e2e.first_light.sized import (
    ASKED,
    GO,
    NAMESPACE,
    SMALL,
    THIRSTY,
    WHERE,
    Sized,
    budget,
    deployment,
    no_resizes,
    policy,
    requests_of,
    with_container,
)
from tests.e2e.first_light.team import REACHED_S, only
from tests.e2e.testbed.test_resize import Limits, limits_of
from tests.testbed.parts.control_plane import KubectlError
from tests.testbed.parts.node.node import Node
from tests.testbed.running.waiting import until

# It builds two images of Dockerfiles when the sources have changed.
pytestmark = pytest.mark.timeout(2000)


@pytest.fixture(scope="module")
def sized(installation: Installation) -> Iterator[Sized]:
    cluster = installation.cluster
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    cluster.apply(deployment("web"), deployment("new"), deployment("moved", replicas=2))
    cluster.kubectl("create", "serviceaccount", "operator", WHERE)
    account = f"--serviceaccount={NAMESPACE}:operator"
    cluster.kubectl(
        "create", "clusterrolebinding", "sizers", "--clusterrole=nemutator-operator", account
    )
    found = Sized(installation, cluster.token(NAMESPACE, "operator"))
    for name in ("web", "new", "moved"):
        found.is_ready(name)
    yield found
    cluster.kubectl("delete", "clusterrolebinding", "sizers")
    delete_namespaces(cluster, NAMESPACE)


def test_a_pod_is_resized_in_place_from_its_own_usage_and_taken_back(
    sized: Sized, node: Node
) -> None:
    cluster, installation, token = sized.cluster, sized.installation, sized.token
    cluster.apply(policy("web", "InPlace"))
    first = only(sized.pods("web"))
    name, uid = first["metadata"]["name"], first["metadata"]["uid"]
    before, pids = limits_of(node, uid), node.pids_of(uid, "app")

    def pod() -> Any:
        return cluster.get("pod", name, WHERE)

    def requests() -> Any:
        return only(pod()["spec"]["containers"])["resources"]["requests"]

    def actuated() -> bool:
        status = only(pod()["status"]["containerStatuses"])
        return bool(status["resources"]["requests"] == requests())

    def told() -> str:
        found = cluster.get("sizingpolicy", "web").get("status", {})
        return json.dumps(found) + json.dumps(
            installation.console("/api/v1/sizing", token=token).document["items"]
        )

    until(lambda: requests() != ASKED, "the pod was resized", within_s=REACHED_S)
    until(actuated, "kubelet has made it", within_s=REACHED_S)
    print("given:", requests(), told())
    assert requests()["cpu"] == "50m"
    after: Limits = limits_of(node, uid)
    assert after.share < before.share
    assert after.memory == before.memory
    assert node.pids_of(uid, "app") == pids
    assert only(pod()["status"]["containerStatuses"])["restartCount"] == 0

    mine = [
        one
        for one in installation.items("/api/v1/mutations?namespace=sized", token=token)
        if one["id"] in pod()["metadata"]["annotations"]["nemutator.io/mutation"]
    ]
    id_ = only(mine)["id"]
    print(installation.nemutator("rollback", id_, "--yes", token=token))
    assert requests() == ASKED
    until(actuated, "kubelet has taken it back", within_s=REACHED_S)
    assert limits_of(node, uid) == before
    assert only(pod()["status"]["containerStatuses"])["restartCount"] == 0
    assert node.pids_of(uid, "app") == pids

    until(
        lambda: any(state == "left" for state, _ in sized.whys("web")),
        "what was taken back is left alone",
        within_s=REACHED_S,
    )
    assert requests() == ASKED
    print(cluster.kubectl("get", "sizingpolicies"))
    print(cluster.kubectl("get", "sizingpolicy", "web", "--output=yaml"))
    # As of a moment ago.
    [workload] = cluster.get("sizingpolicy", "web")["status"]["workloads"]
    assert (workload["namespace"], workload["name"]) == (NAMESPACE, "web")
    [container] = workload["containers"]
    assert container["name"] == "app"
    assert container["target"].keys() | container["requested"].keys() >= {"cpu", "memory"}
    cluster.kubectl("delete", "sizingpolicy", "web")


def test_under_initial_the_next_pod_has_what_is_advised_and_it_is_taken_back(
    sized: Sized,
) -> None:
    cluster = sized.cluster
    cluster.apply(policy("new", "Initial"))
    until(
        lambda: [state for state, _ in sized.whys("new")] == ["due"],
        "the pod that runs is shown what it would get",
        within_s=REACHED_S,
    )
    assert requests_of(only(sized.pods("new"))) == ASKED

    until(
        lambda: requests_of(sized.next_pod("new"))["cpu"] == "50m",
        "a new pod has what is advised",
        within_s=REACHED_S,
    )
    pod = only(sized.pods("new"))
    assert "SizingPolicy/new" in pod["metadata"]["annotations"]["nemutator.io/mutation"]
    assert only(pod["status"]["containerStatuses"])["resources"]["requests"] == requests_of(pod)

    name = pod["metadata"]["name"]
    sized.taken_back(pod)
    back = cluster.get("pod", name, WHERE)
    assert requests_of(back) == ASKED
    assert only(back["status"]["containerStatuses"])["restartCount"] == 0
    cluster.apply(policy("new", "Off"))
    until(
        lambda: requests_of(sized.next_pod("new")) == ASKED,
        "the next one has what its workload says",
        within_s=REACHED_S,
    )
    cluster.kubectl("delete", "sizingpolicy", "new")


def test_what_may_not_be_resized_is_evicted_within_its_budget_and_taken_back(
    sized: Sized,
) -> None:
    cluster = sized.cluster
    cluster.apply(budget(2), *no_resizes())
    old = {pod["metadata"]["uid"] for pod in sized.pods("moved")}
    cluster.apply(policy("moved", "Evict"))

    def is_told(words: str) -> bool:
        return any(state == "waits" and words in why for state, why in sized.whys("moved"))

    until(lambda: is_told("pods keep their sizes here"), "it is refused", within_s=REACHED_S)
    until(lambda: is_told("disruption budget"), "the budget forbids it", within_s=REACHED_S)
    assert {pod["metadata"]["uid"] for pod in sized.pods("moved")} == old

    cluster.apply(budget(1))

    def given() -> list[dict[str, Any]]:
        return [pod for pod in sized.pods("moved") if requests_of(pod)["cpu"] == "50m"]

    until(lambda: bool(given()), "a new pod has what is advised", within_s=REACHED_S)
    pod = given()[0]
    assert pod["metadata"]["uid"] not in old
    assert "SizingPolicy/moved" in pod["metadata"]["annotations"]["nemutator.io/mutation"]

    # What could not be changed on a pod that runs cannot be taken back from one either, until that is allowed.
    for each in no_resizes():
        cluster.kubectl("delete", each["kind"], "no-resizes")
    cluster.kubectl("delete", "sizingpolicy", "moved")
    name = pod["metadata"]["name"]

    def may_be_resized() -> bool:
        patch = {"metadata": {"labels": {"app": "moved"}}}
        with contextlib.suppress(KubectlError):
            cluster.kubectl(
                "patch", "pod", name, WHERE, "--subresource=resize", "--dry-run=server",
                f"--patch={json.dumps(patch)}",
            )  # fmt: skip
            return True
        return False

    until(may_be_resized, "the API server has forgotten its rule", within_s=REACHED_S)
    sized.taken_back(pod)
    assert requests_of(cluster.get("pod", name, WHERE)) == ASKED
    sized.is_ready("moved")
    newest = sized.next_pods("moved", name)
    assert all(requests_of(one) == ASKED for one in newest)


@pytest.mark.usefixtures("sample_image")
def test_a_kill_for_memory_raises_what_is_advised_and_a_leak_does_not(sized: Sized) -> None:
    cluster = sized.cluster
    # The node has no room beside those of the tests before.
    cluster.kubectl("delete", "deployment", "--all", WHERE, within_s=120)
    mounts = [{"name": "state", "mountPath": "/state"}]
    cluster.apply(
        with_container("thirsty", command=["python", "-c", THIRSTY], volumeMounts=mounts),
        with_container("leaky", image=SAMPLE, command=["/shop"]),
    )

    def advice(name: str) -> dict[str, Any] | None:
        rows = sized.installation.items("/api/v1/advice?namespace=sized", token=sized.token)
        return next((one for one in rows if one["owner"] == name), None)

    def memory(name: str) -> int:
        found = advice(name)
        text = (found or {}).get("requests", {}).get("memory") or "0M"
        return int(text.removesuffix("M")) * 1_000_000

    def last_end() -> str:
        (pod,) = sized.pods("thirsty")
        ended = only(pod["status"]["containerStatuses"])["lastState"].get("terminated", {})
        return str(ended.get("reason"))

    for name in ("thirsty", "leaky"):
        sized.is_ready(name)
    until(lambda: memory("thirsty") > 0, "there is advice before the kill", within_s=REACHED_S)
    before = memory("thirsty")
    (pod,) = sized.pods("thirsty")
    cluster.kubectl("exec", pod["metadata"]["name"], WHERE, "--", "python", "-c", GO)
    until(lambda: last_end() == "OOMKilled", "the kernel has killed it", within_s=REACHED_S)
    # What VPA makes of a kill: 100 MiB more than was requested, and its margin.
    least = (128 + 100) * (1 << 20) * 1.15
    until(lambda: memory("thirsty") >= least, "the next advice is more", within_s=REACHED_S)
    raised = advice("thirsty")
    assert raised is not None
    assert before < least
    assert raised["use"]["kills"] == 1
    assert "killed for memory once" in raised["reason"]

    def grows() -> bool:
        return "this memory grows" in (advice("leaky") or {}).get("reason", "")

    until(grows, "what leaks is known to", within_s=REACHED_S)
    leaking = advice("leaky")
    assert leaking is not None
    assert (leaking["requests"]["memory"], leaking["limits"]["memory"]) == (None, None)
    cluster.apply(policy("leaky", "InPlace"))
    until(
        lambda: requests_of(only(sized.pods("leaky")))["cpu"] != SMALL["cpu"],
        "it is given CPU",
        within_s=REACHED_S,
    )
    assert requests_of(only(sized.pods("leaky")))["memory"] == SMALL["memory"]
    cluster.kubectl("delete", "sizingpolicy", "leaky")
    cluster.kubectl("delete", "deployment", "thirsty", "leaky", WHERE, within_s=120)
