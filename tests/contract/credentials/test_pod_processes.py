"""Real processes, each in a mount namespace that shows what kubelet mounts into a container."""

import contextlib
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_agent.credentials.signals.outcomes import SignalOutcome
from nemutator_agent.credentials.signals.pod_processes import PodProcesses
from nemutator_agent.identity.facts import ProcessFacts, started_ticks
from nemutator_agent.identity.failures import AttestationError
from nemutator_common.on_rotate import ContainerSignal


def may_mount() -> bool:
    tried = ["unshare", "--mount", "true"]
    return os.geteuid() == 0 and not subprocess.run(tried, check=False).returncode


pytestmark = pytest.mark.skipif(not may_mount(), reason="root of a container may not mount either")

UID = str(uuid.uuid4())
HUP = ContainerSignal("HUP", "web")

_APPLICATION = """
import os, signal, sys
signal.signal(signal.SIGUSR1, lambda *_: None)
if sys.argv[1] == "catches":
    signal.signal(signal.SIGHUP, lambda *_: print("signalled", os.getpid(), flush=True))
print(os.getpid(), flush=True)
if os.fork() == 0:
    os.setpgid(0, 0)
for _ in sys.stdin:
    break
"""


class Younger:
    """An attestor for whom what was started after this process is in the pod."""

    def __init__(self) -> None:
        self._own = started_ticks(Path("/proc/self/stat").read_bytes())

    def admit(self, facts: ProcessFacts, pod_uid: str) -> None:
        if facts.started_ticks is None or facts.started_ticks <= self._own:
            raise AttestationError("other pod", "it is older than the test")


@contextlib.contextmanager
def container(
    folder: Path, name: str, does: str, *, uid: str = UID
) -> Iterator[subprocess.Popen[str]]:
    """A program and its child, where *does* says whether it catches SIGHUP."""
    words = folder / "pods" / uid / "containers" / name / "0a1b2c3d"
    words.parent.mkdir(parents=True)
    words.touch()
    (folder / "last-words").touch()
    start = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    process = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", start, "sh", str(words), str(folder / "last-words"),
         sys.executable, "-c", _APPLICATION, does],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{process.pid}\n"
        yield process
    finally:
        process.communicate(timeout=60)


async def test_the_first_process_of_its_container_gets_it(tmp_path: Path) -> None:
    processes = PodProcesses(Younger())
    with container(tmp_path, "web", "catches") as web, container(tmp_path, "other", "catches"):
        assert await processes.send(UID, HUP) is SignalOutcome.SENT
        assert web.stdout is not None
        assert web.stdout.readline() == f"signalled {web.pid}\n"
        assert await processes.send(str(uuid.uuid4()), HUP) is SignalOutcome.CONTAINER
    assert web.returncode == 0


async def test_what_it_does_not_catch_is_not_sent(tmp_path: Path) -> None:
    with container(tmp_path, "web", "ignorant") as web:
        processes = PodProcesses(Younger())
        assert await processes.send(UID, HUP) is SignalOutcome.UNCAUGHT
        usr1 = ContainerSignal("USR1", "web")
        assert await processes.send(UID, usr1) is SignalOutcome.SENT
    assert web.returncode == 0


async def test_a_container_of_another_pod_is_none_of_this_one(tmp_path: Path) -> None:
    class Nobody:
        def admit(self, facts: ProcessFacts, pod_uid: str) -> None:
            raise AttestationError("other pod", "as the test wants it")

    with container(tmp_path, "web", "catches"):
        assert await PodProcesses(Nobody()).send(UID, HUP) is SignalOutcome.CONTAINER
        other = ContainerSignal("HUP", "beside")
        assert await PodProcesses(Younger()).send(UID, other) is SignalOutcome.CONTAINER
