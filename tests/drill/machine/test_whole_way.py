"""The whole way on the kubelet of another machine: systemd's driver, control groups of version 2.

The steps are those of `tests/e2e/first_light`; then what only such a node can show, in order too.
"""

import json
import urllib.request

import pytest
from nemutator_common import names

from tests.e2e.first_light import scratch
from tests.e2e.first_light import team as teams
from tests.e2e.first_light.installation import METRICS, Installation
from tests.e2e.first_light.team import PASSWORD, REACHED_S, Team, answers, only, ready
from tests.e2e.first_light.test_whole_way import *
from tests.testbed.parts.machine.guest_node import DEBIANS, GuestNode
from tests.testbed.running.ports import LOOPBACK
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(6000)

APP = "stays"

BACK_S = 2 * REACHED_S
"""When all pods start at once, and kubelet's waits between its tries have become long."""


@pytest.fixture(scope="module")
def app(team: Team) -> str:
    """The name of a pod with secrets, which lives through all that follows."""
    team.installation.cluster.apply(teams.deployment(APP))
    ready(team, APP)
    return str(only(team.pods(APP))["metadata"]["name"])


def test_the_pods_groups_are_systemds_on_version_2(team: Team, node: GuestNode, app: str) -> None:
    machine = node.machine
    assert machine.run("stat", "-fc", "%T", "/sys/fs/cgroup") == "cgroup2fs\n"
    assert machine.run("uname", "-r").startswith(f"{machine.kernel}.")
    uid = only(team.pods(APP))["metadata"]["uid"].replace("-", "_")
    slice_ = f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid}.slice"
    scopes = machine.sh(f"ls -d /sys/fs/cgroup/{slice_}/cri-containerd-*.scope").split()
    assert len(scopes) == 2  # the sandbox and its one container
    assert answers(team, app)


@pytest.mark.parametrize("unit", ["kubelet", "containerd"])
def test_a_daemon_of_the_node_is_restarted_and_nothing_is_lost(
    team: Team, node: GuestNode, app: str, unit: str
) -> None:
    installation = team.installation
    before, kept = restarts(installation, team), not node.has_two_shims_for_a_pod()
    node.machine.run("systemctl", "restart", unit)
    until(node.is_ready, "the node is ready", within_s=REACHED_S)
    until(lambda: answers(team, app), "the pod is still given its secret", within_s=REACHED_S)
    a_new_pod_is_served_and_leaves(team, f"after-{unit}")
    if kept or unit != "containerd":
        assert restarts(installation, team) == before
    nothing_waits(installation)


def test_a_pod_with_user_numbers_of_its_own_is_given_its_secrets_or_refused_by_name(
    team: Team, node: GuestNode
) -> None:
    name = "mapped"
    deployment = teams.deployment(name)
    deployment["spec"]["template"]["spec"]["hostUsers"] = False
    team.installation.cluster.apply(deployment)
    if node.engine is DEBIANS:
        until(
            lambda: any("does not support user namespaces" in said for said in warnings(team)),
            "kubelet names what is missing",
            within_s=REACHED_S,
        )
    else:
        ready(team, name)
        pod = only(team.pods(name))["metadata"]["name"]
        inside, outside, _ = team.kubectl(
            "exec", pod, "--container=app", "--", "cat", "/proc/self/uid_map"
        ).split()
        assert inside == "0"
        assert outside != "0"
        assert content(team, pod) == PASSWORD
        assert team.ask(pod, "/v1/secret/db").document["value"] == PASSWORD
        assert team.ask(pod, "/v1/whoami").document["pod"] == pod
    team.kubectl("delete", "deployment", name, "--wait=true")


def warnings(team: Team) -> list[str]:
    events = team.get("events", "--field-selector=type=Warning")["items"]
    return [event["message"] for event in events]


def test_the_machine_is_restarted_and_all_comes_back(team: Team, node: GuestNode, app: str) -> None:
    node.machine.reboot()
    until(node.is_ready, "the node is ready", within_s=BACK_S)
    until(lambda: answers(team, app), "the pod is given its secret again", within_s=BACK_S)
    assert content(team, app) == PASSWORD
    a_new_pod_is_served_and_leaves(team, "after-boot")
    until(
        lambda: mounts(node) == volumes(team), "no mount is left but the pods'", within_s=REACHED_S
    )
    nothing_waits(team.installation)
    team.kubectl("delete", "deployment", APP, "--wait=true")
    until(
        lambda: not team.get("pods", f"--selector=app={APP}")["items"],
        "it ends",
        within_s=REACHED_S,
    )
    until(lambda: mounts(node) == volumes(team), "its mount ends with it", within_s=REACHED_S)
    nothing_waits(team.installation)


def restarts(installation: Installation, team: Team) -> dict[str, int]:
    counts = dict[str, int]()
    for component in ("brain", "admission", "agent"):
        counts |= installation.restarts(component)
    statuses = only(team.pods(APP))["status"]["containerStatuses"]
    return counts | {APP: only(statuses)["restartCount"]}


def content(team: Team, pod: str) -> str:
    return team.kubectl("exec", pod, "--container=app", "--", "cat", "/run/nemutator/secrets/db")


def is_injected(team: Team) -> bool:
    """Whether a pod would get its volume now: while admission is away, pods are let in without."""
    pod = json.dumps(scratch.pod("asked", teams.ANNOTATIONS, {"name": "app"}))
    asked = ("create", "--dry-run=server", "--output=json", "--filename=-")
    made = json.loads(team.installation.cluster.kubectl(*asked, given=pod))
    return any("csi" in volume for volume in made["spec"].get("volumes", ()))


def a_new_pod_is_served_and_leaves(team: Team, name: str) -> None:
    until(lambda: is_injected(team), "admission is back", within_s=BACK_S)
    before = len(team.vault_tokens())
    team.installation.cluster.apply(teams.deployment(name))
    ready(team, name)
    pod = only(team.pods(name))["metadata"]["name"]
    assert content(team, pod) == PASSWORD
    assert team.ask(pod, "/v1/secret/db").document["value"] == PASSWORD
    team.kubectl("delete", "deployment", name, "--wait=true")
    until(lambda: len(team.vault_tokens()) <= before, "its token is revoked", within_s=REACHED_S)


def mounts(node: GuestNode) -> int:
    """How many volumes of ours are mounted in pods."""
    table = node.machine.run("cat", "/proc/self/mountinfo")
    return sum(
        " /var/lib/kubelet/pods/" in line and "kubernetes.io~csi" in line
        for line in table.splitlines()
    )


def volumes(team: Team) -> int:
    """How many volumes of ours the pods of the node have."""
    pods = team.installation.cluster.get("pods", "--all-namespaces")["items"]
    return sum("csi" in volume for pod in pods for volume in pod["spec"].get("volumes", ()))


def nothing_waits(installation: Installation) -> None:
    """No volume is left whose state the credentials process has not confirmed."""
    url = f"http://{LOOPBACK}:{installation.ports[METRICS['mount']]}/metrics"

    def waiting() -> float:
        with urllib.request.urlopen(url, timeout=240) as answer:
            lines = answer.read().decode().splitlines()
        (line,) = [one for one in lines if one.startswith(names.VOLUMES_WAITING.name + " ")]
        return float(line.split()[1])

    until(lambda: waiting() == 0, "no volume waits", within_s=REACHED_S)
