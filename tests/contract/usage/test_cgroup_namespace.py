"""A cgroup namespace of the real kernel, as runtimes make one for each container on version 2."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_agent.usage.cgroup_files import parse_memberships
from nemutator_agent.usage.hierarchies import place
from nemutator_agent.usage.mounted import mounted_hierarchies

from tests.testbed.running.waiting import until

pytestmark = pytest.mark.e2e

IN_A_NAMESPACE = """
import json, os, sys
from nemutator_agent.usage.cgroup_files import parse_memberships
from nemutator_agent.usage.hierarchies import place
from nemutator_agent.usage.mounted import mounted_hierarchies

def groups(pid):
    content = open(f"/proc/{pid}/cgroup", "rb").read()
    return [path for _, path in place(parse_memberships(content), mounted_hierarchies()).groups]

written = open(f"/proc/{sys.argv[1]}/cgroup").read()
print(json.dumps({"written": written, "other": groups(sys.argv[1]), "own": groups(os.getpid())}))
"""


@pytest.fixture
def group() -> Iterator[tuple[Path, str]]:
    """A group of version 2 two steps down, and its path."""
    (mount,) = (one.mount for one in mounted_hierarchies() if one.version == 2)
    path = f"/nemutator-test-{secrets.token_hex(4)}/below"
    directory = Path(mount + path)
    directory.mkdir(parents=True)
    yield directory, path
    until(lambda: not (directory / "cgroup.procs").read_text(), "nobody is in it", within_s=60)
    directory.rmdir()
    directory.parent.rmdir()


def test_paths_are_those_of_the_machine(group: tuple[Path, str]) -> None:
    directory, path = group
    enter = 'echo $$ > "$1/cgroup.procs"; shift; exec unshare --cgroup "$@"'
    program = [sys.executable, "-c", IN_A_NAMESPACE, str(os.getpid())]
    ended = subprocess.run(
        ["sh", "-c", enter, "sh", str(directory), *program],
        capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    told = json.loads(ended.stdout)
    print(told)
    assert "/../.." in told["written"], "this is no namespace"
    content = Path("/proc/self/cgroup").read_bytes()
    outside = place(parse_memberships(content), mounted_hierarchies()).groups
    assert told["other"] == [each for _, each in outside]
    assert told["own"][0] == path
