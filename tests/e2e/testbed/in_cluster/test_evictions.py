"""Evictions that people ask for: one after another, as budgets and their own permissions let them."""

import json
import subprocess
from pathlib import Path

import pytest
from nemutator_common import names

from tests.e2e.testbed.in_cluster.installation import Installation, nemutator, refusals
from tests.e2e.testbed.test_eviction import allowed, budget
from tests.e2e.testbed.workloads import replicated, wait_ready
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.running.waiting import until

EVICTIONS = "/api/v1/evictions"


def pods(cluster: Cluster, namespace: str) -> dict[str, str]:
    """Uids of those that are not ending, by name."""
    found = cluster.get("pods", f"--namespace={namespace}")["items"]
    return {
        each["metadata"]["name"]: each["metadata"]["uid"]
        for each in found
        if "deletionTimestamp" not in each["metadata"]
    }


@pytest.mark.timeout(300)  # pods that start one after another, on a machine that may be busy
def test_pods_go_one_after_another_and_a_budget_is_waited_for(
    installation: Installation,
    cluster: Cluster,
    image: ImageStore,
    namespace: str,
    tmp_path: Path,
) -> None:
    cluster.apply(replicated("web", namespace, 2), budget(namespace, 2))
    wait_ready(cluster, namespace, "deployment/web")
    until(lambda: allowed(cluster, namespace) == 0, "the budget is used up", within_s=60)
    before = pods(cluster, namespace)
    where = f"--namespace={installation.namespace}"
    cluster.kubectl("create", "serviceaccount", "drainer", where)
    subject = f"--serviceaccount={installation.namespace}:drainer"
    operator = f"--clusterrole=nemutator-operator-{installation.namespace}"
    cluster.kubectl("create", "rolebinding", "drainer", operator, subject, f"-n={namespace}")
    token = installation.token("drainer", audience="")
    words = (f"--namespace={namespace}", "--selector=app=web")

    def evict(*more: str) -> subprocess.CompletedProcess[str]:
        return nemutator(installation, token, tmp_path, "evict", *more)

    # Who may ask us, and not the API server, gets nothing.
    denied = evict(*words, "--plan")
    assert "may not create pods/eviction in namespace" in denied.stderr, denied
    cluster.kubectl(
        "create", "role", "evicting", "--verb=create", "--resource=pods/eviction", f"-n={namespace}"
    )
    cluster.kubectl(
        "create", "rolebinding", "evicting", "--role=evicting", subject, f"-n={namespace}"
    )

    def planned() -> bool:
        shown = evict(*words, "--plan")
        return "2 of 2 pods would be evicted" in shown.stdout

    until(planned, "the API server knows of the role", within_s=60)
    asked = evict(*words, "--reason=new kernel", "--yes", "--output=json")
    assert asked.returncode == 0, asked
    id_ = json.loads(asked.stdout)["id"]

    def states() -> dict[str, str]:
        path = f"{EVICTIONS}/{id_}?namespace={namespace}"
        shown = installation.ask(installation.console, path, token=token)
        return {each["name"]: each["state"] for each in shown.json["pods"]}

    until(lambda: "waits" in states().values(), "the budget does not allow it", within_s=60)
    assert pods(cluster, namespace) == before
    cluster.apply(budget(namespace, 1))
    done = evict(f"--show={id_}", f"--namespace={namespace}", "--wait")
    assert done.returncode == 0, done
    print(done.stdout)
    assert set(states().values()) == {"evicted"}
    assert not set(before.values()) & set(pods(cluster, namespace).values())
    wait_ready(cluster, namespace, "deployment/web")
    assert refusals(installation) == []
    events = cluster.get("events", f"--namespace={namespace}")["items"]
    notes = {each["message"] for each in events if each["reason"] == "Eviction"}
    user = f"system:serviceaccount:{installation.namespace}:drainer"
    assert notes == {f"evicted for {user}: new kernel"}


@pytest.mark.timeout(300)  # pods that start, on a machine that may be busy
def test_of_a_workload_those_go_from_which_others_suffer(
    installation: Installation,
    cluster: Cluster,
    image: ImageStore,
    namespace: str,
    tmp_path: Path,
) -> None:
    cluster.apply(replicated("web", namespace, 3))
    here = f"--namespace={namespace}"
    wait_ready(cluster, namespace, "deployment/web")
    quiet, loud, loudest = sorted(pods(cluster, namespace))
    for name, grade in ((loud, 2), (loudest, 3)):
        cluster.kubectl("label", "pod", name, f"{names.AGGRESSOR_NOW}={grade}", here)
    where = f"--namespace={installation.namespace}"
    cluster.kubectl("create", "serviceaccount", "peacemaker", where)
    subject = f"--serviceaccount={installation.namespace}:peacemaker"
    operator = f"nemutator-operator-{installation.namespace}"
    for role in (operator, "edit"):
        cluster.kubectl("create", "rolebinding", role, f"--clusterrole={role}", subject, here)
    token = installation.token("peacemaker", audience="")

    def evict(grade: int, *more: str) -> subprocess.CompletedProcess[str]:
        asked = (here, f"--neighbour-grade={grade}", *more)
        return nemutator(installation, token, tmp_path, "evict", *asked)

    def planned(grade: int) -> set[str]:
        shown = evict(grade, "--plan", "--output=json")
        if shown.returncode != 0:
            return set()
        return {each["name"] for each in json.loads(shown.stdout)["pods"] if each["evicted"]}

    found = {loud, loudest}
    until(lambda: planned(1) == found, "RBAC knows of it, the brain of the labels", within_s=60)
    assert [planned(grade) for grade in (1, 2, 3, 4)] == [
        {loud, loudest},
        {loud, loudest},
        {loudest},
        set(),
    ]
    done = evict(3, "--reason=others wait", "--yes", "--wait")
    assert done.returncode == 0, done
    left = pods(cluster, namespace)
    assert (loudest in left, {quiet, loud} <= set(left)) == (False, True)
    until(lambda: planned(3) == set(), "the brain has heard that it is gone", within_s=60)
    assert refusals(installation) == []
