"""What docs/install.md tells an administrator to type lets people in, and nobody else."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.testbed.in_cluster.installation import Installation
from tests.testbed.building import made
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.ports import LOOPBACK

DOCUMENT = Path(__file__).parents[4] / "docs" / "install.md"
SECTION = "## Let people in"


@pytest.fixture
def shop(installation: Installation) -> Iterator[str]:
    with new_namespace(installation.cluster, "shop") as name:
        yield name
        # These two belong to no namespace, which would take them with it.
        bindings = [f"{binding}-{name}" for binding in ("anna-operator", "sre-operators")]
        installation.cluster.kubectl(
            "delete", "clusterrolebinding", *bindings, "--ignore-not-found"
        )


def documented(installation: Installation, shop: str) -> list[str]:
    """The commands of the section, for this installation; the port is forwarded by nobody here."""
    _, _, rest = DOCUMENT.read_text().partition(f"{SECTION}\n")
    section, _, _ = rest.partition("\n## ")
    blocks = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert any("port-forward" in command for command in commands)
    own = installation.namespace
    changes = {
        r"-n nemutator\b": f"-n {own}",
        r"--serviceaccount=nemutator:": f"--serviceaccount={own}:",
        r"--clusterrole=(nemutator-\w+)": rf"--clusterrole=\1-{own}",
        r"clusterrolebinding (\S+)": rf"clusterrolebinding \1-{shop}",
        r"(-n |namespace[ =]|--serviceaccount=)shop\b": rf"\g<1>{shop}",
        r"localhost:8420": f"{LOOPBACK}:{installation.console}",
    }
    for found, instead in changes.items():
        commands = [re.sub(found, instead, command) for command in commands]
    return [command for command in commands if "port-forward" not in command]


@pytest.mark.timeout(300)  # a control plane that may be busy, and ten starts of kubectl
def test_what_is_documented_lets_an_administrator_let_people_in(
    installation: Installation, shop: str, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kubectl").symlink_to(made.kube())
    # The administrator has a client certificate: the kubeconfig of the control plane.
    environment = {
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.defpath}",
        "HOME": str(tmp_path),
        "KUBECONFIG": str(installation.cluster.kubeconfig),
    }
    said = {}
    for command in documented(installation, shop):
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
        said[command] = ran.stdout
    assert sum(command.startswith("nemutator mutations") for command in said) == 2
    assert sum(command.startswith("curl") for command in said) == 1
    operator, viewer = ((tmp_path / name).read_text().strip() for name in ("token", "shop-token"))
    assert installation.ask(installation.console, "/api/v1/topology", token=operator).status == 200
    denied = installation.ask(installation.console, "/api/v1/topology", token=viewer)
    assert denied.status == 403
