"""The credentials process is killed two hundred times while pods come, read and end: no token that stands
in its ledger is ever lost at Vault."""

import asyncio
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from nemutator_agent.credentials.vault.ledger import LedgerFile
from nemutator_agent.publications import PUBLICATIONS_PATH
from nemutator_common.data_directory_files import prepare, renew_link_token

from tests.fakes.pod_sockets import call, directory_of
from tests.fakes.process import fake_process
from tests.fakes.vaults import FakeVault
from tests.testbed.running.waiting import until

KILLS = int(os.environ.get("DRILL_KILLS", "200"))
"""A life takes 4 seconds, and 10 beside other work."""
LONGEST_S = 60 * float(os.environ.get("DRILL_MINUTES", "100"))
"""Where that is not enough for all kills, as on a machine that does much else, the report says how many there
were."""
PODS = 8
NEW = 3
PATIENCE_S = 600.0
"""A start takes two seconds, or minutes where others have the processors before it."""
HOURS_S = 2 * 3600

# Each pod's process joins its group, and reads until its socket is gone.
READERS = """
import os, socket, sys
for one in sys.argv[1:]:
    group, _, path = one.partition("=")
    if os.fork() == 0:
        try:
            with open(group + "/cgroup.procs", "w") as procs:
                procs.write(str(os.getpid()))
            while True:
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(path)
                connection.sendall(b"GET /v1/secret/db HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
                while connection.recv(65536):
                    pass
        finally:
            os._exit(0)
print("reading", flush=True)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


@dataclass
class Node:
    folder: Path
    pods_root: Path
    vault: FakeVault
    dice: random.Random
    logs: Path
    """Of each life one, which are kept."""
    lives: int = 0
    alive: list[str] = field(default_factory=list)
    recorded: set[str] = field(default_factory=set)
    """Each token that stood in the ledger after a kill."""

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @contextlib.asynccontextmanager
    async def running(self, *settings: str) -> AsyncIterator[asyncio.subprocess.Process]:
        """One life; killed at the end."""
        hierarchy = self.pods_root.parent.name
        named = f"/{self.pods_root.name}"
        self.lives += 1
        kept = self.logs / f"{self.lives:03}.log"
        with kept.open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "nemutator_agent", "credentials",
                f"--data-dir={self.data}", f"--vault-address={self.vault.url}", "--node=n1",
                f"--pods-root={named if hierarchy == 'cgroup' else f'{hierarchy}:{named}'}",
                *settings, stdin=subprocess.DEVNULL, stderr=log, stdout=log,
            )  # fmt: skip
        try:
            async with asyncio.timeout(PATIENCE_S):
                while await self._status() != 200:
                    assert process.returncode is None, (
                        f"life {self.lives} exited with {process.returncode} ({kept}):\n"
                        f"{kept.read_text()[-8000:]}"
                    )
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def _status(self) -> int:
        try:
            return (await call(self.data / "credentials.sock", "/healthz"))[0]
        except OSError:
            return 0

    async def publish(self, uid: str) -> None:
        directory = self.folder / "volumes" / uid
        directory.mkdir(parents=True, exist_ok=True)
        (self.pods_root / f"pod{uid}").mkdir(exist_ok=True)
        publication = {
            "pod": {"namespace": "shop", "name": uid, "uid": uid, "service_account": "web"},
            "directory": directory_of(directory),
            "attributes": {"secret.db": "secret/app#password", "vault-role": "app"},
            "tokens": {"vault": "the-jwt"},
        }
        await self._ask("PUT", uid, publication, 204)

    async def end(self, pods: list[str]) -> None:
        for uid in pods:
            self.alive.remove(uid)
            shutil.rmtree(self.folder / "volumes" / uid)
            await self._ask("DELETE", uid, None, 204)

    async def _ask(self, method: str, uid: str, body: object, expected: int) -> None:
        path = f"{PUBLICATIONS_PATH}/v-{uid}"
        status, answer = await call(self.data / "credentials.sock", path, method=method, json=body)
        assert status == expected, answer

    async def live_and_be_killed(self) -> None:
        async with self.running("--orphans-s=3600") as process:
            self.alive += [str(uuid.uuid4()) for _ in range(NEW)]
            for uid in self.alive:
                await self.publish(uid)
            ending = self.alive[: max(0, len(self.alive) - PODS)]
            if first := self.dice.random() < 0.5:  # else while they read
                await self.end(ending)
            pairs = [
                f"{self.pods_root}/pod{uid}={self.folder}/volumes/{uid}/agent.sock"
                for uid in self.alive
            ]
            readers = await asyncio.create_subprocess_exec(
                sys.executable, "-S", "-c", READERS, *pairs, stdout=subprocess.PIPE
            )
            assert readers.stdout is not None
            await readers.stdout.readline()
            if not first:
                await self.end(ending)
            # The moment of the kill is what is drilled.
            await asyncio.sleep(self.dice.uniform(0, 0.3))
            process.kill()
            await process.wait()
            await readers.wait()
        self.remember()

    def remember(self) -> None:
        """What a next life would read in the ledger."""
        copy = self.folder / "copy"
        copy.mkdir()
        shutil.copy(self.data / "ledger", copy)
        ledger = LedgerFile(copy, fake_process())
        self.recorded |= {token.token.reveal() for token in ledger.left}
        ledger.close()
        shutil.rmtree(copy)


@pytest.mark.timeout(HOURS_S)
async def test_no_recorded_token_is_lost(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("control groups take root")
    began = time.monotonic()
    top = Path("/sys/fs/cgroup")
    root = (
        top / "memory" if (top / "memory").is_dir() else top
    ) / f"nemutest-{uuid.uuid4().hex[:8]}"
    root.mkdir()
    try:
        # Pytest's own directories are longer than the address of a socket may be.
        with tempfile.TemporaryDirectory(prefix="drill-") as folder, FakeVault() as vault:
            vault.write("secret/app", {"password": "hunter2"})
            vault.role("app", "the-jwt", ["secret/app"])
            node = Node(Path(folder), root, vault, random.Random(KILLS), logs=tmp_path)
            renew_link_token(prepare(node.data))
            while node.lives < KILLS and time.monotonic() - began < LONGEST_S:
                await node.live_and_be_killed()
            kills = node.lives
            for uid in node.alive:
                shutil.rmtree(node.folder / "volumes" / uid)
            async with node.running("--orphans-s=1"):
                await asyncio.to_thread(
                    until,
                    lambda: not node.recorded & vault.tokens.keys(),
                    "every recorded token is revoked",
                    within_s=PATIENCE_S,
                )
            summary = {
                "drill": "kills",
                "kills": kills,
                "logins": vault.calls["login"],
                "recorded_tokens": len(node.recorded),
                "recorded_tokens_lost": len(node.recorded & vault.tokens.keys()),
                "logins_killed_before_their_answer": len(vault.tokens),
                "seconds": round(time.monotonic() - began, 1),
                "logs": str(tmp_path),
            }
            with capsys.disabled():
                print(f"\n{json.dumps(summary)}")
            assert vault.calls["login"] > kills
    finally:
        for group in root.iterdir():
            if group.is_dir():
                group.rmdir()
        root.rmdir()
