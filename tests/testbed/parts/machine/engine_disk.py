"""A disk with images as containerd keeps them, unpacked: an emulated CPU would take ten minutes.

A containerd of ours, of the same programs as the guest's, takes them in; nothing runs of them.
"""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.testbed.building import disks
from tests.testbed.running.run import Run

SIZE = "6G"
"""The file has holes: of that it takes what the images do, and what a guest adds goes elsewhere."""

READY_S = 120.0
IMPORT_S = 600.0
KUBELETS = "k8s.io"


def make(
    run: Run, folder: Path, programs: Path, environment: dict[str, str], archives: Sequence[Path]
) -> Path:
    """A file system for /var/lib/containerd, in *folder*, by the containerd that is in *programs*."""
    root, address = folder / "engine", folder / "engine.sock"
    settings = folder / "engine.toml"
    settings.write_text(_settings(folder, root, address))
    ctr: list[str | Path] = [programs / "ctr", f"--address={address}", f"--namespace={KUBELETS}"]
    environment = {**environment, **run.mark}

    def asked(*words: str | Path) -> bool:
        ran = subprocess.run(
            [*ctr, *words], capture_output=True, timeout=IMPORT_S, check=False, env=environment
        )
        return ran.returncode == 0

    # Its mounts end with it.
    alone = ["unshare", "--mount", "--propagation=private", "--"]
    daemon = run.daemon(
        folder.name,
        [*alone, programs / "containerd", f"--config={settings}"],
        environment=environment,
        ready=lambda: asked("version"),
        within_s=READY_S,
    )
    for archive in archives:
        assert asked("images", "import", archive), daemon.said()
    daemon.stop()
    disk = folder / "engine.img"
    disks.make(root, disk, SIZE, log=run.logs / f"{folder.name}-disk.log")
    shutil.rmtree(root)
    return disk


def _settings(folder: Path, root: Path, address: Path) -> str:
    # JSON's strings are TOML's.
    return f"""\
version = 2
root = {json.dumps(str(root))}
state = {json.dumps(str(folder / "state"))}
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.nri.v1.nri"]
[grpc]
address = {json.dumps(str(address))}
[plugins."io.containerd.internal.v1.opt"]
path = {json.dumps(str(folder / "opt"))}
"""
