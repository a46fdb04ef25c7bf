"""A cluster as a newcomer gets it: from `helm install` to a flame graph of a leak, a secret in a program, what is wasted, and
a mutation taken back.

The commands are those of README.md and docs/install.md, as they stand there, with real Helm, kubectl and Vault's own
command. Every setting that has to do with time is the product's: what takes long here takes long for everybody.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.drill import fitted_chart
from tests.e2e.first_light import team as teams
from tests.e2e.first_light.installation import (
    delete_namespaces,
    place_on,
    said,
    uninstall,
    with_sample,
)
from tests.e2e.first_light.manifests import AGENT, CONTROLLER, REPOSITORY
from tests.e2e.first_light.team import NAMESPACE, PASSWORD
from tests.testbed.building import made
from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.vault import Vault
from tests.testbed.running.waiting import until

# It builds two images of Dockerfiles when the sources have changed.
pytestmark = pytest.mark.timeout(3000)

CALL_S = 600
WITHIN_S = 900.0
ACCOUNT = "nemutator/anna"
LEAK = "main.(*sessions).remember"


class FailedError(Exception):
    """What a command said that did not end with 0."""


@dataclass
class Terminal:
    """Where somebody types; it knows how long that has taken."""

    folder: Path
    environment: dict[str, str] = field(repr=False)
    began: float = field(default_factory=time.monotonic)
    reached: dict[str, float] = field(default_factory=dict)

    def type(self, line: str) -> str:
        """What the command prints; every command is shown with the minute in which it was typed."""
        print(f"{(time.monotonic() - self.began) / 60:5.1f} min $ {line}", flush=True)
        ran = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=CALL_S,
            check=False,
        )
        if ran.returncode != 0:
            raise FailedError(f"{line}: {ran.returncode}\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def until(self, line: str, shows: Callable[[str], object]) -> str:
        """Type it again and again, until it *shows* what is waited for."""
        seen = [""]

        def is_shown() -> bool:
            # As somebody who is told to wait a moment, and tries again.
            try:
                seen[0] = self.type(line)
            except FailedError as refused:
                seen[0] = str(refused)
                return False
            return bool(shows(seen[0]))

        try:
            until(is_shown, line, within_s=WITHIN_S)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{seen[0]}") from error
        return seen[0]

    def there(self, what: str) -> None:
        self.reached[what] = round((time.monotonic() - self.began) / 60, 1)


def commands(page: str, heading: str) -> list[str]:
    """Of the first block of shell below a *heading* of a page."""
    _, _, after = (REPOSITORY / page).read_text().partition(f"\n{heading}\n")
    found = re.search(r"```sh\n(.*?)```", after, re.DOTALL)
    assert found is not None, f"{page} has no commands below {heading}"
    return found[1].splitlines()


@pytest.fixture
def terminal(
    cluster: Cluster, node: Node, image: ImageStore, vault: Vault, tmp_path: Path
) -> Iterator[Terminal]:
    """With kubectl, helm, vault and nemutator, images that were built, and a team's namespace that was there before."""
    with skipped_when_missing():
        made.helm()
    image.from_dockerfile(REPOSITORY, REPOSITORY / "Dockerfile.agent", AGENT)
    image.from_dockerfile(REPOSITORY, REPOSITORY / "Dockerfile.controller", CONTROLLER)
    (tmp_path / "sample").mkdir()
    with_sample(image, tmp_path / "sample")
    programs = tmp_path / "bin"
    programs.mkdir()
    fitted_chart.helm(programs, place_on(cluster, node, vault))
    (programs / "kubectl").symlink_to(made.kube())
    (programs / "vault").symlink_to(made.vault())
    (tmp_path / "deploy").symlink_to(REPOSITORY / "deploy")
    vault.call(
        "POST", f"secret/data/{NAMESPACE}/db", {"data": {"user": "app", "password": PASSWORD}}
    )
    cluster.kubectl("create", "namespace", NAMESPACE)
    environment = {
        "PATH": os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.defpath]),
        "HOME": str(tmp_path),
        "KUBECONFIG": str(cluster.kubeconfig),
        "VAULT_ADDR": vault.url,
        "VAULT_TOKEN": vault.root_token.reveal(),
    }
    terminal = Terminal(tmp_path, environment)
    yield terminal
    # Its driver is needed until no pod has a volume of it any more.
    delete_namespaces(cluster, NAMESPACE)
    with suppress(FailedError):
        terminal.type("helm uninstall nemutator --namespace nemutator")
    uninstall(cluster)


def test_ten_minutes_after_helm_install_all_four_jobs_are_seen(
    terminal: Terminal, cluster: Cluster, vault: Vault
) -> None:
    known = {"registry.example": "localhost", "https://vault.example:8200": vault.url}
    *installing, opting_in, asking = commands("README.md", "## A cluster in five lines")
    terminal.began = time.monotonic()
    for line in installing:
        for word, meant in known.items():
            line = line.replace(word, meant)
        terminal.type(line)

    # Who may read what in Vault: the login itself is there, as in a cluster whose Vault others use already.
    install = (REPOSITORY / "docs" / "install.md").read_text()
    rules = re.search(r"# shop\.hcl\n(.*?)```", install, re.DOTALL)
    assert rules is not None
    (terminal.folder / "shop.hcl").write_text(rules[1])
    for line in re.findall(
        r"^vault (?:policy|write auth/kubernetes/role).*", install, re.MULTILINE
    ):
        terminal.type(line)
    for line in commands("docs/install.md", "## 4. Apply"):
        if "rollout status" in line:
            try:
                terminal.type(line)
            except FailedError as failed:
                raise AssertionError(f"{failed}\n{said(cluster)}") from failed
    terminal.there("everything runs")

    terminal.type(opting_in)
    for line in commands("docs/install.md", "## Let people in"):
        terminal.type(line)
    terminal.environment["NEMUTATOR_CTL_ACCOUNT"] = ACCOUNT

    objects = [teams.policy(), teams.deployment("app"), teams.sample()]
    manifests = terminal.folder / "shop.json"
    for each in objects[:1], objects[1:]:
        manifests.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": each}))
        terminal.type("kubectl apply -f shop.json")
    for name in ("app", "sample"):
        terminal.type(f"kubectl -n shop rollout status deployment/{name}")
    terminal.until(asking, lambda shown: "sample" in shown and "app" in shown)
    terminal.there("workloads are listed")

    inside = "kubectl -n shop exec deployment/app -c app --"
    assert terminal.type(f"{inside} cat /run/nemutator/secrets/db") == PASSWORD
    assert "DB_USER=app" in terminal.type(f"{inside} cat /proc/1/environ").split("\0")
    terminal.there("a secret is in a program")

    terminal.until("kubectl nemutator profile sample --seconds 10 -o cpu.html", lambda _: True)
    assert "priceBasket" in (terminal.folder / "cpu.html").read_text()
    terminal.there("a flame graph")
    leaking = terminal.folder / "leak.html"
    terminal.until(
        "kubectl nemutator profile sample --heap -o leak.html",
        lambda _: LEAK in leaking.read_text(),
    )
    terminal.there("a flame graph of the leak")

    def mutation(shown: str) -> str | None:
        ids = [
            one["id"]
            for one in json.loads(shown)["items"]
            if any("cost-centre" in edit["path"] for edit in one["edits"])
            and one["subject"]["name"].startswith("app-")
        ]
        return ids[0] if ids else None

    id_ = mutation(terminal.until("kubectl nemutator mutations -n shop -o json", mutation))
    # What only a new pod can be without stays with the one that runs, which is answered by 1.
    terminal.type(f"kubectl nemutator rollback {shlex.quote(str(id_))} --yes || [ $? = 1 ]")
    shown = terminal.type("kubectl -n shop get pods -l app=app -o json")
    [pod] = json.loads(shown)["items"]
    assert "cost-centre" not in pod["metadata"]["labels"]
    terminal.there("a mutation is taken back")

    print(
        terminal.until(
            "kubectl nemutator advise -n shop", lambda shown: re.search(r"sample.*\d+m", shown)
        )
    )
    terminal.there("what is wasted")
    print(json.dumps({"minutes": terminal.reached}))
