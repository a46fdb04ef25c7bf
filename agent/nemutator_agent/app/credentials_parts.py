"""What `credentials` has with Vault and without: its parts, and its private listener."""

from collections.abc import Iterable
from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Middleware
from nemutator_common import names
from nemutator_common.addresses import UnixAddress
from nemutator_common.process import Process
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.operations import ALL_OPERATIONS
from nemutator_common.serving.server import HttpServer

from nemutator_agent.credentials.audit import Audit
from nemutator_agent.credentials.connection_peer import PeerAcceptance, accept_peer
from nemutator_agent.settings.credentials import CredentialsSettings

PRIVATE_LIMITS = Limits(body_bytes=512 << 10, connections=64)
"""A publication has some 10 KiB with its tokens. A stored secret has at most 64 KiB, of which JSON makes
six times as much if they are control characters; the rest is for its rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialsParts:
    """What the process needs in each of its two forms."""

    process: Process
    settings: CredentialsSettings
    node: str
    audit: Audit
    peers: PeerAcceptance


def private_listener(
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
