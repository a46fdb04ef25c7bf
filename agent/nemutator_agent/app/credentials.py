"""`nemutator-agent credentials`, put together."""

import asyncio
import os
import secrets

from nemutator_common.audit_keys import installation_keys
from nemutator_common.real_process import real_process
from nemutator_common.serving.operations_server import add_metrics_listener
from nemutator_common.shipping.brain_http import brain_over_http
from nemutator_common.shipping.links_over_http import StreamOverHttp
from nemutator_common.shipping.streams import grant_stream

from nemutator_agent.app.credentials_machine import with_files
from nemutator_agent.app.credentials_parts import CredentialsParts
from nemutator_agent.app.credentials_pods import with_vault
from nemutator_agent.credentials.audit import Audit
from nemutator_agent.credentials.connection_peer import PeerAcceptance
from nemutator_agent.credentials.machine.files import digest_key
from nemutator_agent.settings.credentials import CredentialsSettings


async def run(settings: CredentialsSettings, stop: asyncio.Event) -> None:
    """`nemutator-agent credentials`: give secrets to those who may have them, until *stop*."""
    process = real_process(settings)
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
        parts = CredentialsParts(
            process=process,
            peers=peers,
            settings=settings,
            node=node,
            audit=Audit(
                grants,
                process.clock,
                node=node,
                key=installation_keys(settings.audit_key_file)[0]
                if settings.audit_key_file
                else digest_key(process.directory.root / "audit.key"),
            ),
        )
        add_metrics_listener(process, settings.metrics)
        process.supervisor.add("ship grants", grants.run)
        if peers.polls:
            process.supervisor.add("poll queues", peers.run)
        form = with_vault if settings.serves_pods else with_files
        async with form(parts):
            await process.supervisor.run(stop)
