"""`nemutator-controller admission`, put together."""

import asyncio
import contextlib
import logging
import secrets
import socket
from pathlib import Path

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.real_process import real_process
from nemutator_common.serving.addresses import UnixAddress, parse_address
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.server import HttpServer, TlsFiles
from nemutator_common.shipping.batches import encode_records
from nemutator_common.shipping.brain_http import (
    BrainOverHttp,
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
    root = process.directory.root
    spool = Spool(root / SPOOL, most_bytes=settings.spool_bytes, process=process)
    with contextlib.closing(spool):
        configuration = InCluster(process.clock, mount=settings.service_account)
        brain = brain_over_http(settings, process)
        async with HttpTransport(configuration, process.meter) as transport, brain:
            policies, namespaces = (
                Informer(resource, transport=transport, process=process)
                for resource in (MUTATION_POLICIES, NAMESPACES)
            )
            watched = WatchedCluster(policies, namespaces, process)
            advice, tombstones = _pollers(watched, DocumentsOverHttp(brain), process)
            local, webhook = _servers(settings, watched, spool, process)
            tasks = {
                "ship decisions": _shipper(settings, brain, spool, process).run,
                "poll advice": advice.run,
                "poll tombstones": tombstones.run,
                "watch policies": policies.run,
                "watch namespaces": namespaces.run,
                "follow policies": watched.follow,
                "check informers": watched.check,
                "http local": local.run,
                "http webhook": webhook.run,
            }
            for name, body in tasks.items():
                process.supervisor.add(name, body)
            with contextlib.closing(local), contextlib.closing(webhook):
                await local.bind()
                await webhook.bind()
                await process.supervisor.run(stop)


def _pollers(
    watched: WatchedCluster, documents: DocumentsOverHttp, process: Process
) -> tuple[SnapshotPoller, SnapshotPoller]:
    return (
        SnapshotPoller("advice", ADVICE_PATH, documents, watched.take_advice, ADVICE_S, process),
        SnapshotPoller(
            "tombstones", TOMBSTONES_PATH, documents, watched.take_tombstones, TOMBSTONES_S, process
        ),
    )


def _shipper(
    settings: AdmissionSettings, brain: BrainOverHttp, spool: Spool, process: Process
) -> Shipper:
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
    return shipper


def _servers(
    settings: AdmissionSettings, watched: WatchedCluster, spool: Spool, process: Process
) -> tuple[HttpServer, HttpServer]:
    """For probes and scrapes on this machine, and for the API server."""
    local = HttpServer(
        process=process,
        name="local",
        address=UnixAddress(process.directory.socket(names.ADMISSION)),
        routes=[],
        operations=frozenset({"healthz", "readyz", "metrics"}),
    )
    webhook = HttpServer(
        process=process,
        name="webhook",
        address=parse_address(settings.address),
        routes=Webhook(_handler(settings, watched, spool, process), process).routes(),
        operations=frozenset({"healthz", "readyz"}),
        limits=LIMITS,
        tls=_tls(settings),
    )
    return local, webhook


def _handler(
    settings: AdmissionSettings, watched: WatchedCluster, spool: Spool, process: Process
) -> WebhookHandler:
    rules = Rules(
        own_namespace=settings.namespace,
        injector=Injector(settings.init_image) if settings.init_image else None,
        strict=settings.strict,
    )
    return WebhookHandler(watched, spool, rules, lambda: secrets.token_hex(8), process)


def _tls(settings: AdmissionSettings) -> TlsFiles:
    if settings.client_ca:
        client_ca = Path(settings.client_ca)
        return TlsFiles(settings.tls_certificate, settings.tls_key, client_ca)
    log.warning(
        "any_caller_is_answered",
        {names.REASON: "without the setting admission.client_ca nobody has to show a certificate"},
    )
    return TlsFiles(settings.tls_certificate, settings.tls_key)
