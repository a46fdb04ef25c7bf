"""`nemutator-agent credentials`, put together."""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Middleware
from nemutator_common import names
from nemutator_common.addresses import UnixAddress
from nemutator_common.declarations import DeclarationError, Declarations
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process
from nemutator_common.real_process import real_process
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.operations import ALL_OPERATIONS
from nemutator_common.serving.operations_server import add_metrics_listener
from nemutator_common.serving.server import HttpServer
from nemutator_common.serving.sockets import ListeningSocket
from nemutator_common.shipping.brain_http import StreamOverHttp, brain_over_http
from nemutator_common.shipping.streams import grant_stream

from nemutator_agent.credentials.audit import Audit
from nemutator_agent.credentials.connection_peer import PeerAcceptance, accept_peer
from nemutator_agent.credentials.files.folder import SecretFolder
from nemutator_agent.credentials.http_api import HttpApi, refusals_as_json
from nemutator_agent.credentials.http_refusals import UNHANDLED
from nemutator_agent.credentials.machine.files import SecretFiles, digest_key
from nemutator_agent.credentials.machine.handler import MachineHandler
from nemutator_agent.credentials.machine.secret_store import SecretStore
from nemutator_agent.credentials.machine.store_api import StoreApi, with_link_token
from nemutator_agent.credentials.pods.budgets import PodBudgets
from nemutator_agent.credentials.pods.ended_pods import ended_pods
from nemutator_agent.credentials.pods.handler import PodHandler
from nemutator_agent.credentials.pods.publications_api import PublicationsApi
from nemutator_agent.credentials.pods.publishing import PodPublisher
from nemutator_agent.credentials.pods.sockets import LIMITS, PodSockets
from nemutator_agent.credentials.rotation.watch_api import WatchApi
from nemutator_agent.credentials.vault.broker import Broker
from nemutator_agent.credentials.vault.calls import VaultCalls
from nemutator_agent.credentials.vault.hvac_client import HvacVault
from nemutator_agent.credentials.vault.hvac_session import HvacSession
from nemutator_agent.credentials.vault.ledger import LedgerFile
from nemutator_agent.credentials.vault.orphaned_tokens import OrphanedTokens
from nemutator_agent.credentials.vault.revocations import Revocations
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.identity.attestors import LearningPodAttestor
from nemutator_agent.settings import CredentialsSettings

PRIVATE_LIMITS = Limits(body_bytes=512 << 10, connections=64)
"""A publication has some 10 KiB with its tokens. A stored secret has at most 64 KiB, of which JSON makes
six times as much if they are control characters; the rest is for its rules."""

SHARED_LIMITS = replace(LIMITS, connections=256, connections_each=LIMITS.connections)
"""The limits of the one socket that all users share: each user has as many connections as a pod, and
eight of them can use all of theirs before idle connections are closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What the process needs with Vault and without."""

    process: Process
    settings: CredentialsSettings
    node: str
    audit: Audit
    peers: PeerAcceptance


async def run(settings: CredentialsSettings, stop: asyncio.Event) -> None:
    """`nemutator-agent credentials`: give secrets to those who may have them, until *stop*."""
    process = real_process(settings.data_dir)
    node = settings.name_of(os.uname().nodename)
    async with brain_over_http(settings, process) as brain:
        grants = grant_stream(
            process,
            StreamOverHttp(brain, "grants"),
            node=node,
            epoch=secrets.token_hex(16),
            call_s=settings.call_s,
        )
        peers = PeerAcceptance(process)
        parts = _Parts(
            process=process,
            peers=peers,
            settings=settings,
            node=node,
            audit=Audit(
                grants,
                process.clock,
                node=node,
                key=digest_key(process.directory.root / "audit.key"),
            ),
        )
        add_metrics_listener(process, settings.metrics)
        process.supervisor.add("ship grants", grants.run)
        if peers.polls:
            process.supervisor.add("poll queues", peers.run)
        form = _with_vault if settings.vault_address else _with_files
        async with form(parts):
            await process.supervisor.run(stop)


@contextlib.asynccontextmanager
async def _with_vault(parts: _Parts) -> AsyncIterator[None]:
    """Serve a socket for each pod that mount publishes, with Vault behind them: in a cluster."""
    process, settings = parts.process, parts.settings
    attestor = _attestor(settings.pods_root)
    way = HvacSession(
        settings.vault_address,
        ca_file=Path(settings.vault_ca_file) if settings.vault_ca_file else None,
        namespace=settings.vault_namespace,
        call_s=settings.vault_call_s,
    )
    vault = HvacVault(way, auth_mount=settings.vault_auth_mount)
    calls = VaultCalls(vault, process, deadline_s=settings.vault_call_s)
    ledger = LedgerFile(process.directory.root, process)
    revocations = Revocations(calls, parts.audit, ledger, process)
    orphans = OrphanedTokens(
        ledger.left,
        ledger.unfinished,
        revocations,
        ended_pods,
        process,
        wait_s=settings.orphans_s,
    )
    broker = Broker(
        calls,
        parts.audit,
        revocations,
        orphans,
        ledger,
        process,
        fresh_s=settings.fresh_s,
        stale_s=settings.stale_s,
    )

    budgets = PodBudgets(settings.requests_per_s)

    def handler(session: VaultSession, declarations: Declarations | DeclarationError) -> PodHandler:
        return PodHandler(
            session,
            declarations,
            process,
            broker=broker,
            attestor=attestor,
            audit=parts.audit,
            node=parts.node,
            auth_mount=settings.vault_auth_mount,
            budget=budgets.of(session.account.pod.uid),
        )

    publisher = PodPublisher(broker, PodSockets(process, parts.peers).open, handler, process)
    server = _private(
        process,
        PublicationsApi(publisher, attestor.learn, instance=secrets.token_hex(16)).routes(),
        middlewares=(),
    )
    await server.bind()
    process.supervisor.add("revoke tokens", revocations.run)
    process.supervisor.add("adopt tokens", orphans.run)
    process.supervisor.add("ask Vault", broker.run)
    process.supervisor.add("serve pods", publisher.run)
    process.supervisor.add("serve mount", server.run)
    try:
        yield
    finally:
        server.close()
        way.close()
        ledger.close()


@contextlib.asynccontextmanager
async def _with_files(parts: _Parts) -> AsyncIterator[None]:
    """Serve one socket for all callers, with a file of secrets behind it: without a cluster."""
    process, settings = parts.process, parts.settings
    files = SecretFiles(process.directory.root)
    folder = SecretFolder(Path(settings.files_dir or process.directory.root / "files"))
    store = SecretStore(files.load(), files.save, folder, process)
    await store.write_files()
    handler = MachineHandler(
        store,
        process,
        audit=parts.audit,
        node=parts.node,
        rate=settings.requests_per_s,
    )
    where = settings.agent_socket or str(process.directory.root / names.POD_SOCKET)
    # Rules decide who gets a secret, and the directory's mode decides who may call.
    listening = ListeningSocket(UnixAddress(Path(where)), mode=0o666)
    public = HttpServer(
        process=process,
        name="agent",
        address=listening.address,
        listening=listening,
        # Values are small here, and the callers of one uid must not wait for those of another.
        routes=[
            *HttpApi(handler, large=asyncio.Semaphore(SHARED_LIMITS.connections)).routes(),
            *WatchApi(handler, process, most=SHARED_LIMITS.connections // 4).routes(),
        ],
        middlewares=[refusals_as_json],
        limits=SHARED_LIMITS,
        error_details=UNHANDLED,
        accept_peer=parts.peers.of(listening.socket),
    )
    private = _private(
        process,
        StoreApi(store, parts.audit).routes(),
        middlewares=[with_link_token(process.directory)],
    )
    try:
        await private.bind()
        process.supervisor.add("serve callers", public.run)
        process.supervisor.add("serve the command line", private.run)
        yield
    finally:
        public.close()
        private.close()


def _private(
    process: Process,
    routes: Iterable[web.AbstractRouteDef],
    *,
    middlewares: Iterable[Middleware],
) -> HttpServer:
    return HttpServer(
        process=process,
        name=names.CREDENTIALS,
        address=UnixAddress(process.directory.socket(names.CREDENTIALS)),
        routes=routes,
        middlewares=middlewares,
        operations=ALL_OPERATIONS,
        limits=PRIVATE_LIMITS,
        accept_peer=accept_peer,
    )


def _attestor(setting: str) -> LearningPodAttestor:
    try:
        return LearningPodAttestor(Path("/proc/self/cgroup").read_text(), setting)
    except (OSError, ValueError) as error:
        raise OperatorError(
            f"kubelet's control group: {error}",
            remedy="name it with credentials.pods_root, as `/kubepods.slice` or `memory:/kubepods`",
            code=ExitCode.SETTINGS,
        ) from error
