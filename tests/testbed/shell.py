"""A shell beside a whole testbed: what is tried by hand is tried on what the tests run on."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.testbed.building import made
from tests.testbed.building.cache import MissingPartError
from tests.testbed.parts import control_plane, vault
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.node import node
from tests.testbed.running.run import Run, running

Say = Callable[[str], None]


def open_shell(arguments: Sequence[str], say: Say) -> int:
    """Start everything that this machine can give, then $SHELL; all of it ends with the shell."""
    with running() as run:
        say(f"starting; logs are in {run.logs}")
        cluster = control_plane.begin(run)
        environment = {
            **os.environ,
            **run.mark,
            "KUBECONFIG": str(cluster.kubeconfig),
            "PATH": f"{_programs(run)}:{os.environ.get('PATH', os.defpath)}",
        }
        say(f"control plane: {cluster.url}")
        environment |= _vault(cluster, say)
        _node(cluster, say)
        say("kubectl and vault are on your PATH; leave the shell to end it all")
        with _interrupts_are_for_the_shell():
            shell = os.environ.get("SHELL") or shutil.which("bash") or "/bin/sh"
            return subprocess.run([shell, *arguments], env=environment, check=False).returncode


def _programs(run: Run) -> Path:
    """A folder with the two programs under the names that people type."""
    folder = run.folder("bin")
    (folder / "kubectl").symlink_to(made.kube())
    (folder / "vault").symlink_to(made.vault())
    return folder


def _vault(cluster: Cluster, say: Say) -> dict[str, str]:
    standing = vault.begin(cluster)
    say(f"vault: {standing.url}")
    return {"VAULT_ADDR": standing.url, "VAULT_TOKEN": standing.root_token.reveal()}


def _node(cluster: Cluster, say: Say) -> None:
    try:
        standing = node.begin(cluster)
    except MissingPartError as missing:
        say(f"no node: {missing}")
    else:
        say(f"node: {standing.name}")


@contextmanager
def _interrupts_are_for_the_shell() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
