"""Admission's listeners, put together: for the API server, and for probes of this machine."""

import logging
import secrets
from collections.abc import Iterator
from pathlib import Path

from nemutator_common import names
from nemutator_common.addresses import UnixAddress, parse_address
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.operations import ALL_OPERATIONS
from nemutator_common.serving.server import HttpServer, TlsFiles
from nemutator_common.supervising import STOP_S

from nemutator_controller.admission.endpoint import Webhook
from nemutator_controller.admission.node_statuses import NodeStatusHandler
from nemutator_controller.admission.outcomes import Rules
from nemutator_controller.admission.ports import DecisionRecords, KnownCluster, StampLink
from nemutator_controller.admission.recent_stamps import RecentStamps
from nemutator_controller.admission.reviews import LARGEST
from nemutator_controller.admission.webhook_handler import WebhookHandler
from nemutator_controller.mutations.injection import Injector
from nemutator_controller.oversell.amplification import node_change
from nemutator_controller.settings.admission import AdmissionSettings

log = logging.getLogger(__name__)

LIMITS = Limits(
    body_bytes=LARGEST,
    connections=256,
    handshake_s=2.0,
    request_s=5.0,
    idle_s=120.0,
    linger_s=5.0,
    drain_s=1.0,
)
"""API servers are few, keep their connections (idle ones for 90 s), and get each response within two
seconds. What they send as we close is lost, and the pod is let in unchanged: so we do not close first. One that has
sent nothing for five seconds is about to send in the millisecond of the close in one of ten thousand stops.
A caller without a certificate holds a connection no longer than its handshake may take."""

STOPPED_WITHIN_S = LIMITS.linger_s + LIMITS.drain_s + STOP_S
"""The listener waits for what API servers have sent."""

_ID_BYTES = 8
_IDS_AT_ONCE = 256

ANYBODY = "callers are not asked for certificates: set admission.client_ca"


def local_listener(process: Process) -> HttpServer:
    """For probes and scrapes."""
    return HttpServer(
        process=process,
        name="local",
        address=UnixAddress(process.directory.socket(names.ADMISSION)),
        routes=[],
        operations=ALL_OPERATIONS,
    )


def webhook_listener(
    settings: AdmissionSettings,
    cluster: KnownCluster,
    records: DecisionRecords,
    process: Process,
    siblings: StampLink | None = None,
) -> HttpServer:
    """For the API server; with *siblings* others may listen on the same port."""
    injector = Injector(settings.init_image) if settings.init_image else None
    rules = Rules(own_namespace=settings.namespace, injector=injector, strict=settings.strict)
    handler = WebhookHandler(
        cluster, records, rules, fresh_ids().__next__, process, RecentStamps(siblings)
    )
    webhook = Webhook(
        handler, process, settings.allowed_clients, NodeStatusHandler(node_change, process)
    )
    return HttpServer(
        process=process,
        name="webhook",
        address=parse_address(settings.address),
        routes=webhook.routes(),
        posts=webhook.at_once,
        operations=frozenset({"healthz", "readyz"}),
        limits=LIMITS,
        tls=webhook_tls(settings, process),
        few_callers=True,
        shares_port=siblings is not None,
    )


def fresh_ids() -> Iterator[str]:
    """Those of decisions, for which the kernel is asked once for many."""
    while True:
        random = secrets.token_hex(_ID_BYTES * _IDS_AT_ONCE)
        for at in range(0, len(random), 2 * _ID_BYTES):
            yield random[at : at + 2 * _ID_BYTES]


def webhook_tls(settings: AdmissionSettings, process: Process) -> TlsFiles:
    """What the listener shows, and what it asks callers for."""
    if settings.client_ca:
        return TlsFiles(settings.tls_certificate, settings.tls_key, Path(settings.client_ca))
    if settings.allowed_clients:
        raise OperatorError(
            f"admission.client_names is set, but {ANYBODY}",
            remedy="name the PEM file of the authority that signs their certificates",
            code=ExitCode.SETTINGS,
        )
    process.readiness.note("webhook", ANYBODY)
    log.warning("any_caller_is_answered", {names.REASON: ANYBODY})
    return TlsFiles(settings.tls_certificate, settings.tls_key)
