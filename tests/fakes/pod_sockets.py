"""Sockets of pods as they are in production, with a Vault in memory and pods that tests make up."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import aiohttp
from nemutator_agent.credentials.connection_peer import PeerAcceptance, accept_peer
from nemutator_agent.credentials.pods.budgets import PodBudgets
from nemutator_agent.credentials.pods.handler import PodHandler
from nemutator_agent.credentials.pods.publications_api import PublicationsApi
from nemutator_agent.credentials.pods.publishing import PodPublisher
from nemutator_agent.credentials.pods.served_values import ServedValuesFolder
from nemutator_agent.credentials.pods.sockets import PodSockets
from nemutator_agent.credentials.ports import AttestsPods
from nemutator_agent.credentials.rotation.checking import RotationChecks
from nemutator_agent.credentials.rotation.schedule import CheckSchedule
from nemutator_agent.credentials.value_digests import ValueDigests
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.peers import Hold, by_best
from nemutator_agent.publications import PUBLICATIONS_PATH, PublishedPod
from nemutator_common.addresses import UnixAddress
from nemutator_common.declarations import DeclarationError, Declarations
from nemutator_common.secret import Secret
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.server import HttpServer

from tests.fakes.brokers import FRESH_S, JWT, BrokerSetup
from tests.fakes.container_signals import RecordedSignals
from tests.fakes.peers import POD

PATIENCE_S = 60.0
DIGESTS = ValueDigests(Secret("of this node"))


class Everybody:
    """A attestor for whom each process is in the pod that *is_in* names."""

    def __init__(self, is_in: Callable[[ProcessFacts], str]) -> None:
        self._is_in = is_in

    def admit(self, facts: ProcessFacts, pod_uid: str) -> None:
        if (found := self._is_in(facts)) != pod_uid:
            raise AttestationError("other pod", f"the caller is in pod {found}, not in {pod_uid}")
        if not facts.proven:
            raise AttestationError("start", "it may have another's number")


class OnTrust:
    """An attestor for whom each process is in the pod that it has to be in."""

    def admit(self, facts: ProcessFacts, pod_uid: str) -> None:
        pass


class Node:
    """The credentials process of a node, less its brain."""

    def __init__(
        self,
        folder: Path,
        *,
        attestor: AttestsPods | None = None,
        hold: Hold = by_best,
        setup: BrokerSetup | None = None,
    ) -> None:
        self.setup = setup or BrokerSetup()
        self.token = Secret("")
        """Of the pods' accounts, where it is not one that the Vault in memory knows."""
        self.folder = folder
        self.private = folder / "credentials.sock"
        self._budgets = PodBudgets(rate=50)
        self.rotation = RotationChecks(
            self.setup.broker,
            CheckSchedule(per_minute=60, interval_s=FRESH_S),
            self.setup.process,
        )
        self.containers = RecordedSignals()
        self._attestor = attestor or Everybody(lambda _: POD.uid)
        process = self.setup.process
        self.peers = PeerAcceptance(process, hold=hold)
        self.served = ServedValuesFolder(folder, DIGESTS, process)
        self.publisher = PodPublisher(
            self.setup.broker,
            PodSockets(process, self.peers, DIGESTS, rate=50).open,
            self._handler,
            process,
            self.served.forget,
        )
        self.server = HttpServer(
            process=process,
            name="credentials",
            address=UnixAddress(self.private),
            routes=PublicationsApi(self.publisher, self._learn, instance="life-1").routes(),
            limits=Limits(drain_s=PATIENCE_S),
            accept_peer=accept_peer,
        )

    def _learn(self, setting: str) -> None:
        """What mount sees of the machine is nothing to an attestor that is given."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Node"]:
        await self.server.bind()
        async with self.setup.running(self.publisher.run, self.server.run, self.rotation.run):
            yield self

    def volume(self, name: str) -> Path:
        directory = self.folder / name
        directory.mkdir(exist_ok=True)
        return directory

    def publication(
        self,
        volume: str,
        pod: PublishedPod = POD,
        *,
        declared: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, object]:
        return {
            "pod": {
                "namespace": pod.namespace,
                "name": pod.name,
                "uid": pod.uid,
                "service_account": pod.service_account,
            },
            "directory": directory_of(self.volume(volume)),
            "attributes": dict(declared),
            "tokens": {"vault": self.token.reveal() or f"{JWT}-{pod.uid}"},
        }

    async def publish(
        self,
        volume: str,
        pod: PublishedPod = POD,
        *,
        declared: Mapping[str, str] = MappingProxyType({}),
    ) -> Path:
        """The pod's socket, listening."""
        status, _ = await call(
            self.private,
            f"{PUBLICATIONS_PATH}/{volume}",
            method="PUT",
            json=self.publication(volume, pod, declared=declared),
        )
        assert status == 204
        return self.volume(volume) / "agent.sock"

    def _handler(
        self, session: VaultSession, declared: Declarations | DeclarationError, volume: str
    ) -> PodHandler:
        return PodHandler(
            session,
            declared,
            broker=self.setup.broker,
            attestor=self._attestor,
            audit=self.setup.audit,
            node="n1",
            follow=self.rotation.follow,
            containers=self.containers,
            served=self.served.of(volume),
            auth_mount="kubernetes",
            namespace="team-a",
            budget=self._budgets.of(session.account.pod.uid),
            process=self.setup.process,
        )


def directory_of(path: Path) -> dict[str, object]:
    """The directory at *path* itself, as a publication names it."""
    status = path.lstat()
    return {"path": str(path), "device": status.st_dev, "inode": status.st_ino}


async def call(
    socket: Path, path: str, *, method: str = "GET", json: object = None, **headers: str
) -> tuple[int, Any]:
    """Status, and the document (None when there is none)."""
    async with (
        asyncio.timeout(PATIENCE_S),
        aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(socket))) as session,
        session.request(method, f"http://agent{path}", json=json, headers=headers) as answer,
    ):
        is_json = answer.content_type == "application/json"
        return answer.status, await answer.json() if is_json else await answer.text() or None
