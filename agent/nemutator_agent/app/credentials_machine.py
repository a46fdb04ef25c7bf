"""`credentials` without a cluster: one socket for all callers, with a file of secrets behind it, and Vault
where the settings name one."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from nemutator_common import names
from nemutator_common.addresses import UnixAddress
from nemutator_common.serving.server import HttpServer
from nemutator_common.serving.sockets import ListeningSocket

from nemutator_agent.app.credentials_machine_vault import machine_vault
from nemutator_agent.app.credentials_parts import CredentialsParts, private_listener
from nemutator_agent.credentials.files.folder import SecretFolder
from nemutator_agent.credentials.http_api import HttpApi, refusals_as_json
from nemutator_agent.credentials.http_refusals import UNHANDLED
from nemutator_agent.credentials.machine.files import SecretFiles
from nemutator_agent.credentials.machine.handler import MachineHandler
from nemutator_agent.credentials.machine.secret_store import SecretStore
from nemutator_agent.credentials.machine.store_api import StoreApi, with_link_token
from nemutator_agent.credentials.pods.sockets import LIMITS
from nemutator_agent.credentials.rotation.watch_api import WatchApi

SHARED_LIMITS = replace(LIMITS, connections=256, connections_each=LIMITS.connections)
"""The limits of the one socket that all users share: each user has as many connections as a pod, and
eight of them can use all of theirs before idle connections are closed."""


@contextlib.asynccontextmanager
async def with_files(parts: CredentialsParts) -> AsyncIterator[None]:
    """Serve one socket for all callers, with the machine's own secrets behind it: without a cluster."""
    process, settings = parts.process, parts.settings
    files = SecretFiles(process.directory.root)
    folder = SecretFolder(Path(settings.files_dir or process.directory.root / "files"))
    store = SecretStore(files.load(), files.save, folder, process)
    await store.write_files()
    vault = machine_vault(parts, store.changes) if settings.vault_address else None
    reads = vault.reading if vault is not None else None
    handler = MachineHandler(
        store,
        process,
        audit=parts.audit,
        node=parts.node,
        rate=settings.requests_per_s,
        vault=reads,
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
        middlewares=[refusals_as_json(process)],
        limits=SHARED_LIMITS,
        error_details=UNHANDLED,
        accept_peer=parts.peers.of(listening.socket),
    )
    private = private_listener(
        process,
        StoreApi(store, parts.audit, reads).routes(),
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
        if vault is not None:
            vault.close()
