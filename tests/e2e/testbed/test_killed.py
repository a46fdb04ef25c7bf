"""A testbed that is killed with pods on its node, and what the next command makes of that."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.testbed.workloads import replicated
from tests.testbed.building import made, unpacked
from tests.testbed.fixtures import look, skipped_when_missing
from tests.testbed.running import leftovers
from tests.testbed.running.machine_state import MachineState

REPOSITORY = Path(__file__).parents[3]
COMMAND = (sys.executable, "-m", "tests.testbed")
# In a network namespace of its own, which goes with it.
RULE_THAT_STAYS = """
import os, subprocess
from tests.testbed.running import machine_state

before = machine_state.look(os.environ)
rule = "iptables-nft --append INPUT --source 192.0.2.1 --jump DROP"
subprocess.run(rule.split(), check=True)
print(*machine_state.look(os.environ).added_since(before), sep="\\n")
"""
DONE = "that was all"
IN_SH = {**os.environ, "SHELL": "/bin/sh"}
LOOK_AROUND = """
kubectl get nodes --no-headers --output=custom-columns=:.metadata.name
kubectl get deployments --output=name
exit 7
"""


@dataclass(frozen=True, slots=True)
class Shell:
    """What a developer has opened with `make testbed-shell`."""

    process: "subprocess.Popen[str]"

    def type(self, line: str) -> list[str]:
        """Have the shell do it; the lines that it prints."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{line}\necho {DONE}\n")
        self.process.stdin.flush()
        said = itertools.takewhile(lambda said: said != f"{DONE}\n", self.process.stdout)
        return [line.strip() for line in said]


@contextmanager
def opened() -> Iterator[Shell]:
    with subprocess.Popen(
        [*COMMAND, "shell"],
        cwd=REPOSITORY,
        env=IN_SH,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Shell(process)
        finally:
            process.kill()


@pytest.fixture
def before() -> MachineState:
    """The machine without what killed runs may have left earlier."""
    with leftovers.nobody_else_begins():
        leftovers.clean_dead_runs()
    return look()


@pytest.mark.timeout(240)  # starts everything twice more, beside what the other tests use
def test_after_a_kill_all_starts_again_and_nothing_is_left(
    before: MachineState, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can start a node, whose pods are what a kill leaves")
    with skipped_when_missing():
        made.kube(), made.vault(), made.debian("node")
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(replicated("web", "default", 2)))
    with opened() as shell:
        assert "Initialized true" in " ".join(" ".join(shell.type("vault status")).split())
        shell.type(f"kubectl apply --filename={manifest}")
        available = "kubectl wait deployment/web --for=condition=Available --timeout=60s"
        assert shell.type(available) == ["deployment.apps/web condition met"]
        run = leftovers.run_held_by(shell.process.pid)
        shell.process.kill()
        shell.process.wait()
    pods = set(leftovers.members(leftovers.cgroups(run.name)))
    assert pods, "the kill has ended the pods too: this shows nothing"
    again = subprocess.run(
        [*COMMAND, "shell", "-c", LOOK_AROUND],
        cwd=REPOSITORY, env=IN_SH, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert again.stdout.split() == ["localhost"]
    assert again.returncode == 7
    assert not run.exists()
    assert look().added_since(before) == []


def test_a_rule_of_the_packet_filter_that_stays_is_seen() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may make a network namespace and rules in it")
    with skipped_when_missing():
        root = made.debian("node")
    (matches,) = root.glob("usr/lib/*/xtables")
    tools = unpacked.environment(root) | {"XTABLES_LIBDIR": str(matches)}
    seen = subprocess.run(
        ["unshare", "--net", sys.executable, "-c", RULE_THAT_STAYS],
        cwd=REPOSITORY, env=tools, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "packet filter: iptables-nft-save: -A INPUT -s 192.0.2.1/32 -j DROP" in seen.stdout
