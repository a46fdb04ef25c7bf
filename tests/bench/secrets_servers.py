"""What the bench `secrets` compares: each serves many identities, whose callers are processes."""

import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from nemutator_agent.publications import (
    PUBLICATIONS_PATH,
    Publication,
    PublishedPod,
    VolumeDirectory,
)

from tests.bench.first_light_processes import Process, running, started
from tests.fakes.vaults import FakeVault
from tests.testbed.building import made
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.waiting import until

REPOSITORY = Path(__file__).parents[2]
_ONE: Mapping[str, str] = MappingProxyType({"secret.word": "secret/app#word"})
VALUE = "correct horse battery staple"
READY_S = 60.0
CALL_S = 60.0
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Pod:
    """An identity: a control group at kubelet's position, and where its socket is."""

    uid: str
    procs: str
    """The file by which a process joins it; `-`: it needs none."""
    socket: Path


class Callers:
    """One process for each identity."""

    def __init__(self, stack: ExitStack, go: Path, pods: Sequence[Pod], path: str) -> None:
        self.pods, self.path, self._go, self._processes = pods, path, go, []
        for pod in pods:
            process = subprocess.Popen(
                [go, "read", pod.procs, pod.socket, path],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env={**os.environ, "GOMAXPROCS": "1"},
            )  # fmt: skip
            stack.callback(_ended, process)
            self._processes.append(process)
        for process in self._processes:
            assert _line(process) == "ready"

    def __len__(self) -> int:
        return len(self._processes)

    def ask(self, identity: int, kind: str, reads: int) -> list[float]:
        """The milliseconds of each read."""
        process = self._processes[identity]
        assert process.stdin is not None
        process.stdin.write(f"{kind} {reads}\n")
        process.stdin.flush()
        took: list[float] = json.loads(_line(process))
        return took

    @contextlib.contextmanager
    def flood(self, identity: int) -> Iterator[dict[str, int]]:
        """Another process of that identity asks all it can; its answers are counted by the end."""
        pod, answers = self.pods[identity], dict[str, int]()
        process = subprocess.Popen(
            [self._go, "flood", pod.procs, pod.socket, self.path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert _line(process) == "ready"
            yield answers
            assert process.stdin is not None
            process.stdin.close()
            answers |= json.loads(_line(process))
        finally:
            _ended(process)


@dataclass(frozen=True, slots=True)
class Server:
    process: Process
    callers: Callers
    grow: Callable[[int], float] | None = None
    """Memory once so many pods have a socket and have read; for those that serve pods."""

    def pss_mib(self) -> float:
        return pss_mib(self.process)

    def flood(self, identity: int) -> "contextlib.AbstractContextManager[dict[str, int]]":
        return self.callers.flood(identity)


def ours(
    stack: ExitStack, folder: Path, go: Path, identities: int, *, per_s: int = 10_000
) -> Server:
    """The real credentials process, told by a `mount` that is this bench; Vault is a stand-in, of
    which each pod reads once, when it asks first."""
    groups = stack.enter_context(_groups())
    pods = [_pod(groups, folder) for _ in range(identities)]
    vault = stack.enter_context(FakeVault())
    vault.write("secret/app", {"word": VALUE})
    data = folder / "data"
    process = stack.enter_context(
        started(
            "credentials", folder, f"--data-dir={data}", f"--vault-address={vault.url}",
            f"--pods-root={groups.setting}", f"--requests-per-s={per_s}", "--fresh-s=300",
        )
    )  # fmt: skip
    process.wait_ready(data / "credentials.sock")
    callers = Callers(stack, go, pods, "/v1/secret/word")

    def grow(wanted: int) -> float:
        for number, pod in enumerate(pods[:wanted]):
            if not pod.socket.exists():
                vault.role(pod.uid, f"jwt-{pod.uid}", ["secret/app"])
                _publish(data / "credentials.sock", pod)
                callers.ask(number, "kept", 1)
        return pss_mib(process)

    return Server(process, callers, grow)


@dataclass(frozen=True, slots=True)
class StandingNode:
    """Pods with files, and a `credentials` whose settings are those of a cluster; nobody asks it for anything."""

    process: Process
    vault: FakeVault

    @property
    def vault_requests(self) -> int:
        return sum(self.vault.calls.values())


def standing_node(
    stack: ExitStack, folder: Path, go: Path, *, pods: int, secrets: int
) -> StandingNode:
    """Ten pods of each workload; each workload has secrets of its own, which its pods have as files."""
    groups = stack.enter_context(_groups())
    vault = stack.enter_context(FakeVault())
    data = folder / "data"
    process = stack.enter_context(
        started(
            "credentials", folder, f"--data-dir={data}", f"--vault-address={vault.url}",
            f"--pods-root={groups.setting}",
        )
    )  # fmt: skip
    process.wait_ready(data / "credentials.sock")
    of_node = [_pod(groups, folder) for _ in range(pods)]
    for number, pod in enumerate(of_node):
        (pod.socket.parent / "secrets").mkdir()
        paths = [f"secret/app-{number // 10}/s{each}" for each in range(secrets)]
        if number % 10 == 0:
            for path in paths:
                vault.write(path, {"word": VALUE})
        vault.role(pod.uid, f"jwt-{pod.uid}", paths)
        declared = {f"secret.s{each}": f"{path}#word" for each, path in enumerate(paths)}
        _publish(data / "credentials.sock", pod, declared)
    with ExitStack() as starting:
        callers = Callers(starting, go, of_node, "/v1/files")
        for number, pod in enumerate(of_node):
            callers.ask(number, "new", 1)
            assert (pod.socket.parent / "secrets" / "s0").read_text() == VALUE
    return StandingNode(process, vault)


def vault_agent(stack: ExitStack, folder: Path, go: Path, identities: int) -> Server:
    port = free_port(with_next=True)
    vault = stack.enter_context(
        running(
            "vault",
            [str(made.vault()), "server", "-dev", "-dev-root-token-id=bench", "-dev-no-store-token",
             f"-dev-listen-address={LOOPBACK}:{port}"],
            folder,
        )
    )  # fmt: skip
    until(lambda: _is_up(port), "Vault is up", within_s=READY_S)
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=CALL_S)
    body = json.dumps({"data": {"word": VALUE}})
    connection.request("POST", "/v1/secret/data/app", body, {"X-Vault-Token": "bench"})
    assert connection.getresponse().status == 200, vault.log
    token, door, config = folder / "token", folder / "agent.sock", folder / "agent.hcl"
    token.write_text("bench")
    config.write_text(
        f"""
        vault {{ address = "http://{LOOPBACK}:{port}" }}
        auto_auth {{ method "token_file" {{ config = {{ token_file_path = "{token}" }} }} }}
        api_proxy {{ use_auto_auth_token = true }}
        cache {{ }}
        listener "unix" {{
            address = "{door}"
            tls_disable = true
        }}
        """
    )
    command = [str(made.vault()), "agent", f"-config={config}"]
    process = stack.enter_context(running("vault-agent", command, folder))
    process.wait_until_there(door)
    pods = [Pod(str(number), "-", door) for number in range(identities)]
    callers = Callers(stack, go, pods, "/v1/secret/data/app")
    return Server(process, callers)


def go_twin(stack: ExitStack, folder: Path, go: Path, identities: int) -> Server:
    groups = stack.enter_context(_groups())
    pods = [_pod(groups, folder) for _ in range(identities)]
    process = stack.enter_context(running("go-twin", [str(go), "serve", VALUE], folder))
    lines = "".join(f"{pod.socket} {pod.uid}\n" for pod in pods)
    assert process.popen.stdin is not None
    process.popen.stdin.write(f"{lines}\n".encode())
    process.popen.stdin.flush()
    until(lambda: process.log.read_text().strip(), "the twin listens", within_s=READY_S)
    return Server(process, Callers(stack, go, pods, "/v1/secret/word"))


def program() -> Path:
    """The Go program beside this file, compiled."""
    target = REPOSITORY / ".build" / "secrets-bench"
    go = next(
        (path for path in ("/usr/local/go/bin/go", REPOSITORY / ".build/go/go/bin/go")
         if Path(path).exists()), "go",
    )  # fmt: skip
    subprocess.run(
        [go, "build", "-trimpath", "-buildvcs=false", "-o", target, "."],
        cwd=Path(__file__).parent / "secrets_go", check=True,
        env={**os.environ, "GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"},
    )  # fmt: skip
    return target


def pss_mib(process: Process) -> float:
    """The proportional share of its memory, with that of what it has started."""
    kib = 0
    for pid in process.family:
        with contextlib.suppress(OSError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            kib += sum(int(found) for found in re.findall(r"^Pss:\s+(\d+)", rollup, re.MULTILINE))
    return round(kib / 1024, 1)


@dataclass(frozen=True, slots=True)
class _Groups:
    """Control groups as kubelet would have made them, below those of this process."""

    folder: Path
    setting: str


@contextlib.contextmanager
def _groups() -> Iterator[_Groups]:
    own = Path("/proc/self/cgroup").read_text()
    version_1 = re.search(r"^\d+:(?:[a-z_,]+,)?memory(?:,[a-z_,]+)?:(.*)$", own, re.MULTILINE)
    version_2 = re.search(r"^0::(.*)$", own, re.MULTILINE)
    found = version_1 or version_2
    assert found is not None
    hierarchy = Path("/sys/fs/cgroup", "memory" if version_1 else "")
    path = f"{found[1].rstrip('/')}/secrets-bench-{uuid.uuid4()}"
    folder = hierarchy / path.lstrip("/") / "kubepods"
    folder.mkdir(parents=True)
    try:
        yield _Groups(folder, f"{'memory' if version_1 else ''}:{path}/kubepods")
    finally:
        for group, _, _ in os.walk(folder.parent, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(group)


def _pod(groups: _Groups, folder: Path) -> Pod:
    uid = str(uuid.uuid4())
    group = groups.folder / "burstable" / f"pod{uid}" / ("c" * 64)
    group.mkdir(parents=True)
    volume = folder / uid
    volume.mkdir()
    return Pod(uid, str(group / "cgroup.procs"), volume / "agent.sock")


def _publish(private: Path, pod: Pod, declared: Mapping[str, str] = _ONE) -> None:
    status = pod.socket.parent.stat()
    publication = Publication(
        pod=PublishedPod("bench", pod.uid, pod.uid, "bench"),
        directory=VolumeDirectory(str(pod.socket.parent), status.st_dev, status.st_ino),
        attributes={**declared, "vault-role": pod.uid},
        tokens={"vault": f"jwt-{pod.uid}"},
    )
    connection = http.client.HTTPConnection("credentials", timeout=CALL_S)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(private))
    body = msgspec.json.encode(publication)
    connection.request("PUT", f"{PUBLICATIONS_PATH}/{pod.uid}", body)
    answer = connection.getresponse()
    assert answer.status == 204, answer.read()
    connection.close()


def _is_up(port: int) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=CALL_S)
    try:
        connection.request("GET", "/v1/sys/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _line(process: "subprocess.Popen[Any]") -> str:
    assert process.stdout is not None
    line: str = process.stdout.readline()
    if not line:
        raise EOFError("a caller of the bench has ended")
    return line.strip()


def _ended(process: "subprocess.Popen[Any]") -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.wait(timeout=CALL_S)
    if process.stdout is not None:
        process.stdout.close()
