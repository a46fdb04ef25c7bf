"""`nemutator-controller admission`, put together."""

import asyncio
import logging
import secrets
import socket
from pathlib import Path

from nemutator_common import names
from nemutator_common.real_process import real_process
from nemutator_common.serving.addresses import UnixAddress, parse_address
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.server import HttpServer, TlsFiles
from nemutator_common.shipping.batches import encode_records
from nemutator_common.shipping.brain_http import (
    DocumentsOverHttp,
    StreamOverHttp,
    brain_over_http,
)
from nemutator_common.shipping.shipper import Shipper
from nemutator_common.wire import ADVICE_PATH, TOMBSTONES_PATH

from nemutator_controller.admission.endpoint import Webhook
from nemutator_controller.admission.reviews import LARGEST
from nemutator_controller.admission.snapshot_poller import ADVICE_S, TOMBSTONES_S, SnapshotPoller
from nemutator_controller.admission.spool import Spool
from nemutator_controller.admission.watching import WatchedCluster
from nemutator_controller.admission.webhook_handler import Rules, WebhookHandler
from nemutator_controller.kube.incluster import InCluster
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.resources import NAMESPACES
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.mutations.injection import Injector
from nemutator_controller.policies.objects import MUTATION_POLICIES
from nemutator_controller.settings import AdmissionSettings

log = logging.getLogger(__name__)

LIMITS = Limits(body_bytes=LARGEST, connections=256, handshake_s=2.0, request_s=5.0, drain_s=1.0)
"""API servers are few and keep their connections; a question is answered in two seconds. Whoever has
no certificate holds a connection no longer than its handshake may take."""

SPOOL = "spool"


async def run(settings: AdmissionSettings, stop: asyncio.Event) -> None:
    """Be the webhook until *stop*."""
    process = real_process(settings.data_dir)
    clock, meter, dice = process.clock, process.meter, process.dice
    directory, supervisor = process.directory, process.supervisor
    spool = Spool(directory.root / SPOOL, most_bytes=settings.spool_bytes, meter=meter)
    try:
        configuration = InCluster(clock, mount=settings.service_account)
        brain = brain_over_http(settings, process)
        async with HttpTransport(configuration, meter) as transport, brain:
            policies = Informer(
                MUTATION_POLICIES, transport=transport, clock=clock, meter=meter, roll=dice.random
            )
            namespaces = Informer(
                NAMESPACES, transport=transport, clock=clock, meter=meter, roll=dice.random
            )
            watched = WatchedCluster(
                policies, namespaces, health=process.readiness, clock=clock, meter=meter
            )
            documents = DocumentsOverHttp(brain)
            advice = SnapshotPoller(
                "advice",
                ADVICE_PATH,
                documents,
                watched.take_advice,
                every_s=ADVICE_S,
                clock=clock,
                meter=meter,
                roll=dice.random,
            )
            tombstones = SnapshotPoller(
                "tombstones",
                TOMBSTONES_PATH,
                documents,
                watched.take_tombstones,
                every_s=TOMBSTONES_S,
                clock=clock,
                meter=meter,
                roll=dice.random,
            )
            shipper = Shipper(
                process=process,
                link=StreamOverHttp(brain, "decisions"),
                queue=spool,
                stream="decisions",
                writer=settings.writer or socket.gethostname(),
                epoch=spool.epoch,
                encode=encode_records,
                call_s=settings.call_s,
            )
            spool.added = shipper.wake
            answerer = WebhookHandler(
                watched,
                spool,
                Rules(
                    own_namespace=settings.namespace,
                    injector=Injector(settings.init_image) if settings.init_image else None,
                    strict=settings.strict,
                ),
                fresh=lambda: secrets.token_hex(8),
                clock=clock,
                meter=meter,
            )
            webhook = HttpServer(
                process=process,
                name="webhook",
                address=parse_address(settings.address),
                routes=Webhook(answerer, meter=meter).routes(),
                operations=frozenset({"healthz", "readyz"}),
                limits=LIMITS,
                tls=_tls(settings),
            )
            local = HttpServer(
                process=process,
                name="local",
                address=UnixAddress(directory.socket(names.ADMISSION)),
                routes=[],
                operations=frozenset({"healthz", "readyz", "metrics"}),
            )
            supervisor.add("ship decisions", shipper.run)
            supervisor.add("hear advice", advice.run)
            supervisor.add("hear tombstones", tombstones.run)
            supervisor.add("watch policies", policies.run)
            supervisor.add("watch namespaces", namespaces.run)
            supervisor.add("follow policies", watched.follow)
            supervisor.add("look at informers", watched.look)
            supervisor.add("http local", local.run)
            supervisor.add("http webhook", webhook.run)
            try:
                await local.bind()
                await webhook.bind()
                await supervisor.run(stop)
            finally:
                local.close()
                webhook.close()
    finally:
        spool.close()


def _tls(settings: AdmissionSettings) -> TlsFiles:
    if settings.client_ca:
        client_ca = Path(settings.client_ca)
        return TlsFiles(settings.tls_certificate, settings.tls_key, client_ca)
    log.warning(
        "any_caller_is_answered",
        {names.REASON: "without the setting admission.client_ca nobody has to show a certificate"},
    )
    return TlsFiles(settings.tls_certificate, settings.tls_key)
