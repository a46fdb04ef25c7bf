"""The credentials process itself, killed between a login and the end of the pod, and a real Vault."""

import asyncio
import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from nemutator_agent.publications import PUBLICATIONS_PATH
from nemutator_common.data_directory_files import prepare, renew_link_token

from tests.contract.credentials.places import RealPlace, real_place
from tests.fakes.pod_sockets import call, directory_of
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.vault import Vault, VaultRefusedError
from tests.testbed.running.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

PATIENCE_S = 60.0

ASK = """
import os, socket, sys
group, path = sys.argv[1:]
with open(group + "/cgroup.procs", "w") as procs:
    procs.write(str(os.getpid()))
connection = socket.socket(socket.AF_UNIX)
connection.connect(path)
connection.sendall(b"GET /v1/secret/db HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
while received := connection.recv(65536):
    sys.stdout.write(received.decode())
"""


@pytest.fixture
def pods_root() -> Iterator[Path]:
    """A control group as kubelet's, where the first controller of version 1 is, or version 2."""
    top = Path("/sys/fs/cgroup")
    first = top / "memory"
    root = (first if first.is_dir() else top) / f"nemutest-{uuid.uuid4().hex[:8]}"
    root.mkdir()
    yield root
    for group in root.iterdir():
        if group.is_dir():
            group.rmdir()
    root.rmdir()


class BrokerSetup:
    def __init__(self, folder: Path, vault: Vault, place: RealPlace, pods_root: Path) -> None:
        self.folder = folder
        self.vault = vault
        self.private = folder / "data" / "credentials.sock"
        self.ledger = folder / "data" / "ledger"
        self.log = folder / "log"
        self._place = place
        self._pods_root = pods_root
        renew_link_token(prepare(folder / "data"))
        self.path = f"secret/{place.folder}/db"
        place.write(self.path, {"password": "hunter2"})
        self._role, self._jwt = place.account(reads=[self.path])

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """Until it is killed, as hard as can be."""
        hierarchy = self._pods_root.parent.name
        named = f"/{self._pods_root.name}"
        with self.log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "nemutator_agent", "credentials",
                f"--data-dir={self.folder / 'data'}", f"--vault-address={self.vault.url}",
                # So long that nothing here can come of it.
                "--orphans-s=3600", "--node=n1",
                f"--pods-root={named if hierarchy == 'cgroup' else f'{hierarchy}:{named}'}",
                stdin=subprocess.DEVNULL, stderr=log, stdout=log,
            )  # fmt: skip
        try:
            async with asyncio.timeout(PATIENCE_S):
                while await self._status() != 200:
                    assert process.returncode is None, self.log.read_text()
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def _status(self) -> int:
        try:
            return (await call(self.private, "/healthz"))[0]
        except OSError:
            return 0

    async def publish(self, uid: str) -> Path:
        directory = self.folder / uid[:8]
        directory.mkdir(exist_ok=True)
        pod = {
            "namespace": self._place.folder,
            "name": f"pod-{uid[:8]}",
            "uid": uid,
            "service_account": "default",
        }
        publication = {
            "pod": pod,
            "directory": directory_of(directory),
            "attributes": {"secret.db": f"{self.path}#password", "vault-role": self._role},
            "tokens": {"vault": self._jwt.reveal()},
        }
        status, body = await call(
            self.private, f"{PUBLICATIONS_PATH}/v-{uid}", method="PUT", json=publication
        )
        assert status == 204, body
        return directory / "agent.sock"

    def remove_volume(self, uid: str) -> None:
        """As mount does it when kubelet says that the pod has terminated."""
        shutil.rmtree(self.folder / uid[:8])

    @contextlib.asynccontextmanager
    async def still_in(self, uid: str) -> AsyncIterator[asyncio.subprocess.Process]:
        """A process that stays in the pod's control group."""
        lingering = await asyncio.create_subprocess_exec("sleep", "60")
        try:
            procs = self._pods_root / f"pod{uid}" / "cgroup.procs"
            procs.write_text(str(lingering.pid))
            yield lingering
        finally:
            with contextlib.suppress(ProcessLookupError):
                lingering.kill()
            await lingering.wait()

    async def end(self, uid: str) -> None:
        await call(self.private, f"{PUBLICATIONS_PATH}/v-{uid}", method="DELETE")

    async def ask(self, uid: str, socket: Path) -> Any:
        """What the pod's socket answers to a process of the pod."""
        group = self._pods_root / f"pod{uid}"
        group.mkdir(exist_ok=True)
        asking = await asyncio.create_subprocess_exec(
            sys.executable, "-S", "-c", ASK, str(group), str(socket), stdout=subprocess.PIPE
        )
        answer, _ = await asking.communicate()
        head, _, body = answer.decode().partition("\r\n\r\n")
        assert head.startswith("HTTP/1.1 200 "), answer
        return json.loads(body)

    def accessors(self) -> set[str]:
        """Of the tokens at Vault that are of this test's namespace."""
        found = set()
        for accessor in self.vault.call("LIST", "auth/token/accessors")["data"]["keys"]:
            with contextlib.suppress(VaultRefusedError):  # it has ended since
                token = self.vault.call(
                    "POST", "auth/token/lookup-accessor", {"accessor": accessor}
                )["data"]
                if (token["meta"] or {}).get("service_account_namespace") == self._place.folder:
                    found.add(accessor)
        return found

    async def until_left(self, accessors: set[str]) -> None:
        await asyncio.to_thread(
            until,
            lambda: self.accessors() == accessors,
            "only the tokens of pods are left at Vault",
            within_s=PATIENCE_S,
        )


@pytest.fixture
def setup(vault: Vault, cluster: Cluster, pods_root: Path, tmp_path: Path) -> Iterator[BrokerSetup]:
    with real_place(vault, cluster) as place:
        yield BrokerSetup(tmp_path, vault, place, pods_root)


async def test_killed_between_login_and_the_pods_end_it_leaves_no_token_at_vault(
    setup: BrokerSetup,
) -> None:
    stays, ends = str(uuid.uuid4()), str(uuid.uuid4())
    async with setup.running() as first:
        for uid in (stays, ends):
            answer = await setup.ask(uid, await setup.publish(uid))
            assert answer["value"] == "hunter2"
        both = setup.accessors()
        assert len(both) == 2
        first.kill()
        await first.wait()
    assert stat.S_IMODE(setup.ledger.stat().st_mode) == 0o600
    assert b"hunter2" not in setup.ledger.read_bytes()
    assert os.fsencode("eyJ") not in setup.ledger.read_bytes()  # as each JWT begins
    assert setup.accessors() == both

    setup.remove_volume(ends)
    async with setup.running():
        socket = await setup.publish(stays)
        assert (await setup.ask(stays, socket))["value"] == "hunter2"
        await asyncio.to_thread(
            until, lambda: len(setup.accessors()) == 1, "one is left", within_s=PATIENCE_S
        )
        assert setup.accessors() < both
        assert (await setup.ask(stays, socket))["value"] == "hunter2"

    # Killed once more; the pod ends slowly, while no credentials process is there.
    setup.remove_volume(stays)
    async with setup.still_in(stays) as lingering, setup.running():
        assert len(setup.accessors()) == 1
        lingering.kill()
        await setup.until_left(set())
    log = setup.log.read_text()
    assert "hvs." not in log
    assert "hunter2" not in log


async def test_a_token_that_was_adopted_is_revoked_with_its_pod(
    setup: BrokerSetup,
) -> None:
    uid = str(uuid.uuid4())
    async with setup.running():
        await setup.ask(uid, await setup.publish(uid))
    async with setup.running():
        await setup.publish(uid)
        await setup.end(uid)
        await setup.until_left(set())
