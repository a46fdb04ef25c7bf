"""Replicas of admission and their brain, as real processes, before the API server of tests.

Reviews are sent as an API server sends them, over TLS to one of the replicas that a Service would choose; what
comes back is applied, and the pod stored, so that the brain sees it.
"""

import asyncio
import contextlib
import json
import os
import random
import re
import ssl
import subprocess
import sys
import time
import uuid
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from nemutator_common.data_directory import DataDirectory
from nemutator_common.names import BRAIN_AUDIENCE, MUTATION, SPOOL_RECORDS
from nemutator_controller.access.bearers import POD_CLAIM, account
from nemutator_controller.policies.crds import definition
from nemutator_controller.policies.model import API_VERSION, KIND
from nemutator_ctl.local_api import LocalApi

from tests.bench import first_light_reviews as reviews
from tests.fakes.admission_reviews import NoAnswerError, review, verified
from tests.fakes.issuers import claims
from tests.fakes.issuers import token as signed_token
from tests.fakes.kube import kinds
from tests.fakes.kube.certificates import AuthorityFiles
from tests.fakes.kube.patching import json_patch
from tests.fakes.kube.paths import SIGNER
from tests.fakes.kube.server import FakeKube
from tests.fakes.pod_sockets import call
from tests.testbed.running.ports import LOOPBACK, free_port

Json = dict[str, Any]

PATIENCE_S = 600.0
"""A start takes two seconds, or minutes where others have the processors before it."""
ANSWER_S = 10.0
"""The webhook's own deadlines are shorter; an API server's is 2 s, which a busy machine takes to wake up."""
MOST_PODS = 500
PAGE = 1_000
TOKEN_S = 24 * 3600
"""Longer than any drill: nobody writes a new one."""
NAMESPACE = "nemutator"
CHANGED = (reviews.OPTED_IN, reviews.PLAIN)
"""The namespaces of which each pod has to be changed."""


@dataclass(slots=True)
class DrilledProcess:
    """One process of ours, that is started again and again on the same directory."""

    name: str
    role: str
    data: Path
    log: Path
    arguments: tuple[str, ...]
    environment: dict[str, str]
    port: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever a review is sent to it."""
    alive: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self.alive = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "nemutator_controller", self.role,
                f"--data-dir={self.data}", *self.arguments,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={"PATH": os.defpath, **self.environment},
            )  # fmt: skip

    async def until_ready(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while await self._status() != 200:
                self.assert_running()
                await asyncio.sleep(0.05)

    def assert_running(self) -> None:
        assert self.alive is not None
        ended = self.alive.returncode
        assert ended is None, f"{self.name} has ended by itself with {ended}: {self.log}"

    async def kill(self) -> None:
        if self.alive is not None and self.alive.returncode is None:
            self.alive.kill()
            await self.alive.wait()

    async def terminate(self) -> None:
        """As kubelet does first; returns when it has ended."""
        self.assert_running()
        assert self.alive is not None
        self.alive.terminate()
        async with asyncio.timeout(PATIENCE_S):
            assert await self.alive.wait() == 0, self.log

    async def waiting(self) -> int:
        """Records in its spool."""
        _, text = await call(self.data / f"{self.role}.sock", "/metrics")
        found = re.search(rf"^{SPOOL_RECORDS.name} (\S+)$", text, re.MULTILINE)
        assert found, text
        return int(float(found[1]))

    async def _status(self) -> int:
        try:
            return (await call(self.data / f"{self.role}.sock", "/readyz"))[0]
        except (OSError, aiohttp.ClientError, TimeoutError):
            return 0


@dataclass(slots=True)
class Creations:
    """What was asked, and what came of it."""

    asked: int = 0
    edits: dict[str, Json] = field(default_factory=dict)
    """Of each patch that was applied, by its decision's id: the uid of its request, and its edits."""
    unanswered: dict[str, str] = field(default_factory=dict)
    """Of each request without an answer, by its uid: why. Its pod is let in as it is."""
    told: Counter[str] = field(default_factory=Counter)
    """Pods that were answered, not changed, and came with a warning that says why."""
    unexplained: list[str] = field(default_factory=list)
    """Requests whose pod was neither changed nor explained."""


@dataclass(slots=True)
class AdmissionReplicas:
    kube: FakeKube
    folder: Path
    brain: DrilledProcess
    replicas: list[DrilledProcess]
    authority: AuthorityFiles
    dice: random.Random
    endpoints: list[DrilledProcess] = field(default_factory=list)
    """Whom the Service would choose from."""
    made: Creations = field(default_factory=Creations)
    _pods: deque[tuple[str, str]] = field(default_factory=deque)

    @property
    def processes(self) -> list[DrilledProcess]:
        return [self.brain, *self.replicas]

    def add_replica(self, name: str) -> DrilledProcess:
        files, port = self.folder / name, free_port()
        files.mkdir()
        replica = _admission(self.kube, files, name, port, self.brain.port)
        for file in ("server.crt", "server.key"):
            (files / file).write_bytes((self.folder / file).read_bytes())
        self.replicas.append(replica)
        return replica

    async def start_all(self) -> None:
        await self.brain.start()
        await self.brain.until_ready()
        published = self.kube.store.get(kinds.CONFIG_MAPS, NAMESPACE, "nemutator-ca")
        assert published is not None
        (self.folder / "brain-ca.crt").write_text(published["data"]["ca.crt"])
        for replica in self.replicas:
            await replica.start()
        for replica in self.replicas:
            await replica.until_ready()
            self.endpoints.append(replica)

    async def create_pods(self, enough: asyncio.Event, *, pause_s: float) -> None:
        """One after the other."""
        # Connections are kept, as an API server keeps them; each creator has its own.
        context = ssl.create_default_context(cadata=self.authority.pem.decode())
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(ANSWER_S)) as session:
            while not enough.is_set():
                await self._create(session, context)
                await asyncio.sleep(pause_s if self.endpoints else 1.0)

    async def _create(self, session: aiohttp.ClientSession, context: ssl.SSLContext) -> None:
        uid, made = str(uuid.uuid4()), self.made
        namespace = self.dice.choice(CHANGED)
        manifest = reviews.pod(namespace)
        body = review(manifest, uid=uid, namespace=namespace)
        made.asked += 1
        if not self.endpoints:
            made.unanswered[uid] = "no endpoint"
            return
        where = self.dice.choice(self.endpoints)
        try:
            url = f"https://{LOOPBACK}:{where.port}/mutate"
            where.asked.set()
            async with session.post(url, json=body, ssl=context) as response:
                answer = verified(await response.read(), uid)
        except (aiohttp.ClientError, OSError, TimeoutError, NoAnswerError) as error:
            made.unanswered[uid] = type(error).__name__
            return
        if not answer.patch:
            if answer.warnings:
                made.told.update(answer.warnings)
            else:
                made.unexplained.append(uid)
            return
        pod = json_patch(manifest, answer.patch)
        stamp = json.loads(pod["metadata"]["annotations"][MUTATION])
        made.edits[stamp["id"]] = {"request_uid": uid, "edits": stamp["edits"]}
        self._store(pod, namespace, uid)

    def _store(self, pod: Json, namespace: str, uid: str) -> None:
        name = f"{pod['metadata']['generateName']}{uid[:8]}"
        given = {"name": name, "uid": uid, "creationTimestamp": "2026-01-01T00:00:00Z"}
        self.kube.store.put(kinds.PODS, {**pod, "metadata": {**pod["metadata"], **given}})
        self._pods.append((namespace, name))
        if len(self._pods) > MOST_PODS:
            self.kube.store.remove(kinds.PODS, *self._pods.popleft())

    async def complete_journal(self) -> dict[str, Json]:
        """The journal once no replica has anything for it, as long as that takes."""
        async with asyncio.timeout(PATIENCE_S):
            for replica in self.replicas:
                while await replica.waiting():
                    replica.assert_running()
                    await asyncio.sleep(1.0)
        return await asyncio.to_thread(self._journal)

    def _journal(self) -> dict[str, Json]:
        """All that the brain has recorded as done, by id."""
        api = LocalApi(DataDirectory(self.brain.data), timeout_s=PATIENCE_S)
        found: dict[str, Json] = {}
        until = "inf"
        while True:
            document: Any = api.get(f"/api/v1/mutations?limit={PAGE}&until={until}")
            page: list[Json] = document["items"]
            fresh = {one["id"]: one for one in page if one["id"] not in found}
            found |= fresh
            if len(page) < PAGE:
                return {id_: one for id_, one in found.items() if one["mode"] == "apply"}
            assert fresh, "a thousand decisions have one time"
            # The oldest of the page stays in: another may have the same time.
            until = repr(min(one["at"] for one in page) + 1e-6)

    def unexplained(self, journal: dict[str, Json]) -> Iterator[str]:
        """Patches whose record is missing or another one, and records without their patch."""
        for id_, patch in self.made.edits.items():
            record = journal.get(id_)
            if record is None:
                yield f"{id_}: applied, and not in the journal"
            elif record["request_uid"] != patch["request_uid"]:
                yield f"{id_}: recorded for another request"
            elif patch["edits"] is not None and patch["edits"] != _as_stamped(record["edits"]):
                yield f"{id_}: recorded otherwise"
        for id_, record in journal.items():
            if id_ not in self.made.edits and record["request_uid"] not in self.made.unanswered:
                yield f"{id_}: in the journal, and its request was answered without it"


def _as_stamped(edits: list[Json]) -> list[list[Any]]:
    words = ("path", "before", "after", "verb", "policy")
    return [[edit[word] for word in words] for edit in edits]


@contextlib.asynccontextmanager
async def standing(
    folder: Path, dice: random.Random, *names: str
) -> AsyncIterator[AdmissionReplicas]:
    """None of them runs yet; all of them are ended."""
    async with FakeKube() as kube:
        await _fill(kube)
        authority = AuthorityFiles(folder)
        authority.server_context()  # writes the files of a certificate for loopback
        brain = _brain(kube, folder / "brain", free_port())
        cluster = AdmissionReplicas(kube, folder, brain, [], authority, dice)
        for name in names:
            cluster.add_replica(name)
        try:
            yield cluster
        finally:
            for process in cluster.processes:
                await process.kill()


def _brain(kube: FakeKube, folder: Path, port: int) -> DrilledProcess:
    folder.mkdir()
    settings = {
        "CLUSTER": "true",
        "NAMESPACE": NAMESPACE,
        "UPLINK": f"{LOOPBACK}:{port}",
        "CLUSTER_CONSOLE": f"{LOOPBACK}:{free_port()}",
        "SERVER_NAMES": LOOPBACK,
        "SERVICE_ACCOUNT": str(_account(kube, folder, kube.token)),
        "JOURNAL_DECISIONS": "1000000",
    }
    environment = {f"NEMUTATOR_BRAIN_{name}": value for name, value in settings.items()}
    return DrilledProcess(
        "brain", "brain", folder / "data", folder / "log", (),
        {**_server(kube), **environment}, port,
    )  # fmt: skip


def _admission(
    kube: FakeKube, folder: Path, name: str, port: int, brain_port: int
) -> DrilledProcess:
    user = account(NAMESPACE, "nemutator-admission")
    bound = {"namespace": NAMESPACE, "pod": {"name": name, "uid": f"uid-of-{name}"}}
    # The brain reads the cluster's keys, and knows nobody whose token they have not signed.
    said = claims(now=time.time(), sub=user, exp=int(time.time()) + TOKEN_S)
    token = kube.access.add_token(
        user,
        token=signed_token(SIGNER.keys[0], said | {"kubernetes.io": bound}),
        audiences=(str(BRAIN_AUDIENCE),),
        extra={POD_CLAIM: [name]},
    )
    (folder / "brain-token").write_text(token)
    arguments = (
        f"--address={LOOPBACK}:{port}",
        f"--tls-certificate={folder / 'server.crt'}",
        f"--tls-key={folder / 'server.key'}",
        f"--service-account={_account(kube, folder, kube.token)}",
        "--init-image=registry.example/nemutator-agent:1",
        f"--writer={name}",
        f"--brain=https://{LOOPBACK}:{brain_port}",
        f"--brain-token-file={folder / 'brain-token'}",
        f"--brain-ca-file={folder.parent / 'brain-ca.crt'}",
    )
    return DrilledProcess(
        name, "admission", folder / "data", folder / "log", arguments, _server(kube), port
    )


def _account(kube: FakeKube, folder: Path, token: str) -> Path:
    """What kubelet gives a pod."""
    mounted = folder / "account"
    mounted.mkdir()
    (mounted / "token").write_text(token)
    (mounted / "ca.crt").write_bytes(kube.authority.pem)
    return mounted


def _server(kube: FakeKube) -> dict[str, str]:
    return {
        "KUBERNETES_SERVICE_HOST": LOOPBACK,
        "KUBERNETES_SERVICE_PORT_HTTPS": str(kube.port),
    }


async def _fill(kube: FakeKube) -> None:
    manifests = [
        {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}
        for name, spec in reviews.POLICIES.items()
    ]
    labels = {**reviews.NAMESPACES, NAMESPACE: {}}
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": found}}
        for name, found in labels.items()
    ]
    headers = {"Authorization": f"Bearer {kube.token}"}
    async with aiohttp.ClientSession(kube.url, headers=headers) as session:
        for path, objects in (
            ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", [definition()]),
            (f"/apis/{API_VERSION}/mutationpolicies", manifests),
            ("/api/v1/namespaces", namespaces),
        ):
            for manifest in objects:
                async with session.post(path, json=manifest, ssl=False) as answer:
                    assert answer.status == 201, await answer.text()
