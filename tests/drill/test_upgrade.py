"""An installation of the version before gets this version with its data in place, goes back as far as it can, and forth
again; and its brain is backed up and restored.

The tests stand in the order of the day on which it happens: each goes on with what the one before has left. A release of
the chart has a file of its own (`test_upgrade_of_a_release.py`), because its installation would be put over this one.
"""

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from nemutator_controller.database.schema import HEAD

from tests.drill import version_before
from tests.e2e.first_light import team as teams
from tests.e2e.first_light.installation import NAMESPACE as OWN
from tests.e2e.first_light.installation import (
    Installation,
    delete_namespaces,
    installed,
    place_on,
    said,
    uninstall,
    with_sample,
)
from tests.e2e.first_light.manifests import (
    AGENT,
    CONTROLLER,
    REPOSITORY,
    Place,
    agent,
    documents,
)
from tests.e2e.first_light.team import DATABASE, NAMESPACE, OTHERS, REACHED_S, Team, only, ready
from tests.testbed.building import made
from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.lent_databases import database_engine
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.vault import Vault
from tests.testbed.running.waiting import until

# It builds four images.
pytestmark = pytest.mark.timeout(3000)

Json = dict[str, Any]

BEFORE = "before"
BRAIN = "nemutator-brain-0"
BRAIN_USER = 65532
CLAIM = f"data-{BRAIN}"
STAMP = "nemutator.io/mutation"
KEPT = {
    "mutations": ("id",),
    "profiles": ("id",),
    "tombstones": ("namespace", "kind", "name", "path", "policy"),
    "grants": ("at", "node", "pod", "operation", "secret"),
}
"""Lists of the API which nothing but the brain's data directory knows, and what tells their items apart."""

Lists = dict[str, dict[tuple[Any, ...], Json]]


@dataclass
class Day:
    """What the tests hand on to each other."""

    team: Team
    now: Place
    before: Place
    image: ImageStore
    vault: Vault
    had: Lists
    """What the brain said before it was upgraded."""
    pods: dict[str, str]
    """Each application's pod, by name and uid."""

    @property
    def installation(self) -> Installation:
        return self.team.installation

    @property
    def cluster(self) -> Cluster:
        return self.installation.cluster

    def become(self, place: Place) -> None:
        """What *place* says is installed over what there is, and everything is ready."""
        node = self.installation.node
        made_of = installed(self.cluster, node, self.image, self.vault, place)
        self.team = replace(self.team, installation=made_of, token=self.token())

    def token(self) -> str:
        return self.cluster.token(OTHERS, "operator")

    def lists(self) -> Lists:
        return {
            what: {tuple(one[field] for field in fields): one for one in self.team.items(what)}
            for what, fields in KEPT.items()
        }

    def lent(self) -> Json:
        where = ("cat", "/run/nemutator/secrets/pg")
        read = ("exec", "deployment/borrower", "--container=app", "--", *where)
        found: Json = json.loads(self.team.kubectl(*read))
        return found

    def running(self) -> dict[str, str]:
        """The pods of the applications, which were neither restarted nor made anew."""
        pods = [pod for name in ("app", "borrower") for pod in self.team.pods(name)]
        for pod in pods:
            assert pod["status"]["containerStatuses"][0]["restartCount"] == 0
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}

    def rotated(self, word: str) -> None:
        """A change in Vault arrives in the file of a pod that was there before."""
        changed = {"user": "app", "password": word}
        self.vault.call("POST", f"secret/data/{NAMESPACE}/db", {"data": changed})
        read = ("cat", "/run/nemutator/secrets/db")

        def there() -> bool:
            where = ("exec", "deployment/app", "--container=app", "--", *read)
            return self.team.kubectl(*where) == word

        until(there, f"{word} has arrived", within_s=REACHED_S)
        name = only(self.team.pods("app"))["metadata"]["name"]
        assert self.team.ask(name, "/v1/secret/db").document["value"] == word

    def mutated(self, name: str) -> Json:
        """A new Deployment's pod, changed and injected."""
        self.cluster.apply(teams.deployment(name))
        ready(self.team, name)
        pod: Json = only(self.team.pods(name))
        assert pod["metadata"]["labels"]["cost-centre"] == "4711"
        assert pod["spec"]["initContainers"][0]["name"] == "nemutator-init"
        return pod


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the version before."""
    with skipped_when_missing():
        commit = version_before.found()
    print("the version before:", commit)
    return version_before.unpacked(commit, tmp_path_factory.mktemp("before"))


@pytest.fixture(scope="module")
def day(
    cluster: Cluster, node: Node, image: ImageStore, vault: Vault, postgres: Postgres,
    tree: Path, tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Day]:  # fmt: skip
    now = replace(place_on(cluster, node, vault), keeps=True)
    settings = now.settings.replace(AGENT, agent(BEFORE))
    before = replace(now, tree=tree, tag=BEFORE, settings=settings)
    # The applications are made of it.
    image.from_dockerfile(REPOSITORY, REPOSITORY / "Dockerfile.agent", AGENT)
    with_sample(image, tmp_path_factory.mktemp("sample"))
    folder = cluster.run.folder("brain-volume")
    os.chown(folder, BRAIN_USER, BRAIN_USER)
    cluster.apply(_volume(folder))
    team = teams.found(installed(cluster, node, image, vault, before))
    with database_engine(vault, postgres, DATABASE, term="1h", longest="24h") as lent:
        declared = {"nemutator.io/secret.pg": lent}
        cluster.apply(
            teams.deployment("app"),
            teams.deployment("borrower", annotations=declared, reads="pg"),
            teams.sample(),
        )
        for name in ("app", "borrower", "sample"):
            ready(team, name)
        yield Day(team, now, before, image, vault, {}, {})
        cluster.kubectl("delete", "clusterrolebinding", "operators")
        delete_namespaces(cluster, NAMESPACE, OTHERS)
        uninstall(cluster)
        cluster.kubectl("delete", "persistentvolume", "brain", "--timeout=60s")


def test_the_version_before_has_data(day: Day) -> None:
    team = day.team
    sample = only(team.pods("sample"))["metadata"]["name"]
    team.kubectl("annotate", "pod", sample, "nemutator.io/profile=cpu 2s id=first")
    stamped = json.loads(only(team.pods("app"))["metadata"]["annotations"][STAMP])["id"]
    until(
        lambda: (stamped,) in day.lists()["mutations"], "it is in the journal", within_s=REACHED_S
    )
    gone = day.mutated("gone")
    taken = json.loads(gone["metadata"]["annotations"][STAMP])["id"]
    until(lambda: (taken,) in day.lists()["mutations"], "that one, too", within_s=REACHED_S)
    where = f"/api/v1/mutations/{taken}/rollback?evict=true"
    assert team.installation.console(where, token=team.token, method="POST").status == 200

    def complete() -> bool:
        lists = day.lists()
        return all(lists[what] for what in KEPT) and any(
            one["state"] == "done" for one in lists["profiles"].values()
        )

    until(complete, "there is something in each list", within_s=REACHED_S)
    day.had, day.pods = day.lists(), day.running()
    print({what: len(found) for what, found in day.had.items()}, day.pods)


def test_after_the_upgrade_all_of_it_is_there(day: Day) -> None:
    lent = day.lent()
    day.become(day.now)
    image = day.installation.pod_of("brain")["spec"]["containers"][0]["image"]
    assert image.endswith(f":{day.now.tag}")
    found = day.lists()
    for what in KEPT:
        assert found[what].keys() >= day.had[what].keys(), what
    for key, mutation in day.had["mutations"].items():
        shown = found["mutations"][key]
        assert {name: shown.get(name) for name in ("at", "name", "namespace")} == {
            name: mutation.get(name) for name in ("at", "name", "namespace")
        }
    done = [one for one in day.had["profiles"].values() if one["state"] == "done"]
    for profile in done:
        where = f"/api/v1/profiles/{profile['id']}/folded"
        assert day.installation.console(where, token=day.team.token).body
    assert day.running() == day.pods
    assert day.lent() == lent
    print({what: len(one) for what, one in found.items()})


def test_what_runs_since_the_version_before_goes_on_with_its_secrets(day: Day) -> None:
    day.rotated("after the upgrade")
    assert day.running() == day.pods


def test_what_the_version_before_has_changed_is_taken_back_by_this_one(day: Day) -> None:
    pod = only(day.team.pods("app"))
    id_ = json.loads(pod["metadata"]["annotations"][STAMP])["id"]
    where = f"/api/v1/mutations/{id_}/rollback?plan=false"
    done = day.installation.console(where, token=day.team.token, method="POST")
    assert done.status == 200, done
    assert "cost-centre" not in only(day.team.pods("app"))["metadata"]["labels"]
    # What was taken back before stays so.
    assert "cost-centre" not in only(day.team.pods("gone"))["metadata"]["labels"]


def test_new_pods_are_changed_and_have_their_secrets(day: Day) -> None:
    name = day.mutated("fresh")["metadata"]["name"]
    assert day.team.ask(name, "/v1/secret/db").document["value"] == "after the upgrade"


def test_back_at_the_version_before_the_brain_refuses_and_pods_go_on(day: Day) -> None:
    pods = day.running()
    day.cluster.apply(*documents(day.before))

    refusals: list[str] = []

    def is_refused() -> bool:
        """A container that is started again has no log for a moment."""
        logs = ("logs", f"pod/{BRAIN}", f"--namespace={OWN}")
        with contextlib.suppress(KubectlError):
            lines = day.cluster.kubectl(*logs).splitlines()
            refusals.extend(line for line in lines if "a newer nemutator" in line)
        return bool(refusals)

    until(is_refused, f"the brain says it: {said(day.cluster)}", within_s=REACHED_S)
    print("refused:", refusals[0])
    assert HEAD in refusals[0]
    status = ("rollout", "status", "deployment/nemutator-admission", f"--namespace={OWN}")
    day.cluster.kubectl(*status, "--timeout=600s", within_s=610)

    def serve_pods() -> bool:
        """Those of the agent that do; `observe` is not ready before it has reached a brain."""
        with contextlib.suppress(ValueError, KeyError):
            found = day.installation.pod_of("agent")["status"]["containerStatuses"]
            ready = {one["name"] for one in found if one["ready"] and one["image"].endswith(tag)}
            return ready >= {"mount", "credentials"}
        return False

    tag = f":{day.before.tag}"
    until(serve_pods, "the agent before serves pods", within_s=REACHED_S)
    day.rotated("after going back")
    assert day.running() == pods


def test_forth_again_everything_is_there(day: Day) -> None:
    day.cluster.apply(*documents(day.now))
    # Kubernetes leaves a pod alone that has never been ready: a person takes it away.
    delete = ("delete", "pod", BRAIN, f"--namespace={OWN}", "--timeout=300s")
    day.cluster.kubectl(*delete, within_s=310)
    day.become(day.now)
    found = day.lists()
    for what in KEPT:
        assert found[what].keys() >= day.had[what].keys(), what
    day.rotated("forth again")
    assert day.running() == day.pods


def test_the_brain_is_backed_up_and_restored_as_the_docs_say(day: Day, tmp_path: Path) -> None:
    before = day.lists()
    away, *restoring = (
        line.removeprefix("kubectl ").strip()
        for block in re.findall(r"```sh\n(.*?)```", _backing_up(), re.DOTALL)
        for line in block.splitlines()
        if line.startswith("kubectl ")
    )
    _in_a_shell(day.cluster, away, tmp_path)
    for command in restoring:
        _in_a_shell(day.cluster, command, tmp_path)
    day.become(day.now)
    found = day.lists()
    for what in KEPT:
        assert found[what].keys() >= before[what].keys(), what
    assert day.running() == day.pods


def _backing_up() -> str:
    """What the documentation says about backups."""
    _, _, after = (REPOSITORY / "docs" / "install.md").read_text().partition("## Back up the brain")
    return after.partition("\n## ")[0]


def _in_a_shell(cluster: Cluster, command: str, folder: Path) -> None:
    """kubectl with these words, as somebody types them in *folder*."""
    if "deploy/restore" in command:
        [pod] = yaml.safe_load_all((REPOSITORY / "deploy" / "restore" / "restore.yaml").read_text())
        [container] = pod["spec"]["containers"]
        container |= {"image": CONTROLLER, "imagePullPolicy": "Never"}
        cluster.apply(pod)
        return
    ran = subprocess.run(
        f"exec {made.kube()} kubectl {command}",
        shell=True,
        cwd=folder,
        env={"PATH": os.defpath, "HOME": str(folder), "KUBECONFIG": str(cluster.kubeconfig)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    print("$ kubectl", command, ran.stdout, ran.stderr, sep="\n")
    assert ran.returncode == 0, ran.stderr


def _volume(folder: Path) -> Json:
    """For the brain's claim alone, as an administrator without a provisioner makes it."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "brain"},
        "spec": {
            "capacity": {"storage": "2Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": str(folder)},
            "claimRef": {"namespace": OWN, "name": CLAIM},
        },
    }
