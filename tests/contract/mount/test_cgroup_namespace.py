"""A cgroup namespace of the real kernel, as Docker makes one for privileged containers too."""

import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_agent.usage.mounted import mounted_hierarchies

from tests.testbed.running.waiting import until

pytestmark = pytest.mark.e2e

LEAVE = """
from pathlib import Path
from nemutator_agent.mount.cgroup_namespace import join_the_machines

own = Path("/proc/self/cgroup")
print(own.read_text().splitlines()[-1], join_the_machines(), own.read_text().splitlines()[-1])
"""


@pytest.fixture
def group() -> Iterator[tuple[Path, str]]:
    (mount,) = (one.mount for one in mounted_hierarchies() if one.version == 2)
    path = f"/nemutator-test-{secrets.token_hex(4)}"
    directory = Path(mount + path)
    directory.mkdir()
    yield directory, path
    until(lambda: not (directory / "cgroup.procs").read_text(), "nobody is in it", within_s=60)
    directory.rmdir()


def ran(*program: str) -> str:
    """*program* beside a process 1 that is not in a namespace of control groups made here."""
    ended = subprocess.run(
        ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", '"$@"; exit', "sh", *program],
        capture_output=True, check=True, text=True, timeout=120,
    )  # fmt: skip
    return ended.stdout


def test_the_path_that_the_machine_sees_is_seen(group: tuple[Path, str]) -> None:
    directory, path = group
    enter = f'echo $$ > "{directory}/cgroup.procs"; exec unshare --cgroup "$@"'
    seen = ran("sh", "-c", enter, "sh", sys.executable, "-c", LEAVE)
    assert seen.split() == ["0::/", "True", f"0::{path}"]


def test_whoever_is_in_the_machines_own_stays_there(group: tuple[Path, str]) -> None:
    before, left, after = ran(sys.executable, "-c", LEAVE).split()
    assert (left, before) == ("False", after)
