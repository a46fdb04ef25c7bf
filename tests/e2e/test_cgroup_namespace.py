"""A node of version 2 with systemd's names, as real groups, processes and a namespace have it.

Kubelet itself is not there: what is shown is that the kernel's own paths, seen from the agent's
container, lead to the right pods and to no other.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from nemutator_agent.mount.pods_root import pods_root_for

from tests.e2e.cgroup_namespace import as_with_version_2
from tests.house.tree import REPOSITORY
from tests.testbed.running.waiting import until

UNIFIED = Path("/sys/fs/cgroup/unified")
TOP = UNIFIED if UNIFIED.is_dir() else Path("/sys/fs/cgroup")

OWN, BURSTABLE, GUARANTEED, BESTEFFORT = (str(uuid.uuid4()) for _ in range(4))

JOIN = 'echo $$ > "$0/cgroup.procs" && exec "$@"'


class Tree:
    """Control groups below a root of kubelet's, and one process in each that is asked for."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.name = f"nemutest{uuid.uuid4().hex[:8]}"
        self._stack = stack

    def pod(self, uid: str, qos: str = "", *, container: str = "a") -> str:
        level = f"/{self.name}-{qos}.slice/{self.name}-{qos}" if qos else f"/{self.name}"
        slice_ = f"{level}-pod{uid.replace('-', '_')}.slice"
        return f"/{self.name}.slice{slice_}/cri-containerd-{container * 64}.scope"

    def process(self, path: str, *command: str) -> subprocess.Popen[str]:
        group = TOP / path[1:]
        for level in [*reversed(group.parents), group]:
            if not level.exists():
                level.mkdir()
                self._stack.callback(
                    until, partial(_removed, level), f"{level} is gone", within_s=60
                )
        process = subprocess.Popen(
            ["/bin/sh", "-c", JOIN, str(group), *(command or ("sleep", "60"))],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, _FOLDERS))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._stack.callback(_ended, process)
        joined = f"0::{path}\n"
        until(lambda: as_with_version_2(process.pid) == joined, f"it is in {path}", within_s=60)
        return process


_FOLDERS = [REPOSITORY / "agent", REPOSITORY / "common", REPOSITORY]


def _ended(process: subprocess.Popen[str]) -> None:
    process.kill()
    with process:
        process.wait(timeout=60)


def _removed(group: Path) -> bool:
    """A process that has just ended is in it for a moment."""
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.exists()


@pytest.fixture
def tree() -> Iterator[Tree]:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("control groups and a namespace of them take root and unshare")
    with contextlib.ExitStack() as stack:
        yield Tree(stack)


@pytest.mark.parametrize("is_set", [False, True], ids=["found by mount", "set by an operator"])
def test_in_a_namespace_of_its_own_the_agent_knows_each_pod_and_no_impostor(
    tree: Tree, is_set: bool
) -> None:
    mount = tree.process(tree.pod(OWN, "burstable", container="b"))
    pods = {
        BURSTABLE: tree.process(tree.pod(BURSTABLE, "burstable")),
        GUARANTEED: tree.process(tree.pod(GUARANTEED) + "/init"),
        BESTEFFORT: tree.process(tree.pod(BESTEFFORT, "besteffort")),
    }
    impostors = [
        tree.process(tree.pod(OWN, "burstable", container="d") + tree.pod(BURSTABLE, "burstable")),
        tree.process(tree.pod(GUARANTEED) + f"/..data{tree.pod(BURSTABLE, 'burstable')}"),
        tree.process(f"/{tree.name}-user.slice{tree.pod(BURSTABLE, 'burstable')}"),
        tree.process(f"/{tree.name}-pod{BURSTABLE.replace('-', '_')}.slice"),
        tree.process(f"/{tree.name}.slice"),
    ]
    credentials = tree.process(
        tree.pod(OWN, "burstable", container="c"),
        *("unshare", "--cgroup", sys.executable, "-m", "tests.e2e.cgroup_namespace"),
    )
    assert credentials.stdin is not None
    assert credentials.stdout is not None
    assert credentials.stdout.readline() == "0::/\n", "it sees itself as the root"
    told = pods_root_for(as_with_version_2(mount.pid), as_with_version_2(credentials.pid))
    asked = [
        *((process.pid, uid) for uid, process in pods.items()),
        (credentials.pid, OWN),
        (mount.pid, OWN),
        *((impostor.pid, BURSTABLE) for impostor in impostors),
        (pods[GUARANTEED].pid, BURSTABLE),
        (mount.pid, BURSTABLE),
        (os.getpid(), BURSTABLE),
    ]
    setting = f":/{tree.name}.slice" if is_set else ""
    question = json.dumps({"told": told, "setting": setting, "asked": asked})
    answers, _ = credentials.communicate(f"{question}\n", timeout=60)
    print(told, answers)
    assert json.loads(answers) == [
        *["yes"] * 5,
        *["other pod", "other pod", "position", "position", "position"],
        *["other pod", "other pod", "position"],
    ]
