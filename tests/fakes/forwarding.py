"""An API server as far as the command line needs one to reach a brain, and that brain, both on loopback.

The server knows one ConfigMap, one pod and one service account, and forwards the pod's port by websocket, as
`v4.channel.k8s.io` has it: each frame begins with the number of its channel, data or error, and the first
of each says the port.
"""

import asyncio
import contextlib
import json
import ssl
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout, WSMsgType, web

from tests.certificates import Authority, Leaf

NAMESPACE = "nemutator"
PERSON = "token-of-a-person"
ACCOUNT = "token-of-an-account"
PORT = 8420
DATA, ERROR = b"\0", b"\1"


@dataclass
class ForwardingCluster:
    """What a test may change, and what was seen."""

    authority: Authority = field(default_factory=lambda: Authority("cluster"))
    """Of the API server."""
    of_brain: Authority = field(default_factory=lambda: Authority("nemutator"))
    published: str = ""
    """What the ConfigMap says; empty: the brain's authority."""
    ready: bool = True
    may_forward: bool = True
    url: str = ""
    seen: list[tuple[str, str | None]] = field(default_factory=list)
    """Of the brain: each path, and who asked."""
    at_server: list[tuple[str, str | None]] = field(default_factory=list)
    services: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)
    """By `namespace/name:port`: the object, and where it is on loopback."""

    def kubeconfig(self, folder: Path, *, token: str | None = PERSON, **user: Any) -> Path:
        (folder / "cluster.crt").write_text(self.authority.certificate)
        credentials = user or ({"token": token} if token else {})
        written = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [
                {
                    "name": "here",
                    "cluster": {
                        "server": self.url,
                        "certificate-authority": str(folder / "cluster.crt"),
                    },
                }
            ],
            "users": [{"name": "me", "user": credentials}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        }
        path = folder / "kubeconfig"
        path.write_text(json.dumps(written))
        return path


@contextlib.asynccontextmanager
async def forwarding(cluster: ForwardingCluster) -> AsyncIterator[ForwardingCluster]:
    """*cluster* with its two servers running."""
    server = web.Application()
    prefix = f"/api/v1/namespaces/{NAMESPACE}"
    server.router.add_get(f"{prefix}/configmaps/nemutator-ca", partial(_published, cluster))
    server.router.add_get(f"{prefix}/pods", partial(_pods, cluster))
    server.router.add_post(f"{prefix}/serviceaccounts/anna/token", partial(_token, cluster))
    server.router.add_get("/api/v1/services", partial(_services, cluster))
    proxied = "/api/v1/namespaces/{namespace}/services/{name}/proxy/{path:.*}"
    server.router.add_post(proxied, partial(_proxied, cluster))
    async with contextlib.AsyncExitStack() as running:
        behind = await running.enter_async_context(brain_alone(cluster, NAMESPACE))
        server.router.add_get(
            f"{prefix}/pods/nemutator-brain-0/portforward",
            partial(_forward, cluster, behind),
        )
        port = await running.enter_async_context(
            _served(server, cluster.authority.server("127.0.0.1"))
        )
        cluster.url = f"https://127.0.0.1:{port}"
        yield cluster


@contextlib.asynccontextmanager
async def brain_alone(cluster: ForwardingCluster, namespace: str) -> AsyncIterator[int]:
    """The brain of *cluster*, installed in *namespace*: its port on loopback."""
    brain = web.Application()
    brain.router.add_get("/{path:.*}", partial(_brain, cluster))
    name = f"nemutator-brain.{namespace}.svc"
    async with _served(brain, cluster.of_brain.server(name)) as port:
        yield port


@contextlib.asynccontextmanager
async def _served(application: web.Application, leaf: Leaf) -> AsyncIterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(leaf.both)
        file.flush()
        context.load_cert_chain(file.name)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _who(request: web.Request) -> str | None:
    return request.headers.get("Authorization")


async def _brain(cluster: ForwardingCluster, request: web.Request) -> web.Response:
    cluster.seen.append((request.path_qs, _who(request)))
    return web.json_response({"items": [{"id": "m-1"}, {"id": "m-2"}]})


def _allowed(cluster: ForwardingCluster, request: web.Request) -> None:
    cluster.at_server.append((request.path, _who(request)))
    if _who(request) is None and request.transport is not None:
        raise web.HTTPUnauthorized


async def _published(cluster: ForwardingCluster, request: web.Request) -> web.Response:
    _allowed(cluster, request)
    said = cluster.published or cluster.of_brain.certificate
    return web.json_response(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"ca.crt": said}}
    )


async def _pods(cluster: ForwardingCluster, request: web.Request) -> web.Response:
    _allowed(cluster, request)
    condition = {"type": "Ready", "status": str(cluster.ready)}
    container = {"name": "brain", "ports": [{"name": "console", "containerPort": PORT}]}
    pod = {
        "metadata": {"name": "nemutator-brain-0", "namespace": NAMESPACE},
        "spec": {"containers": [container]},
        "status": {"conditions": [condition]},
    }
    return web.json_response(
        {"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": [pod]}
    )


async def _services(cluster: ForwardingCluster, request: web.Request) -> web.Response:
    _allowed(cluster, request)
    items = [document for document, _ in cluster.services.values()]
    return web.json_response(
        {"apiVersion": "v1", "kind": "ServiceList", "metadata": {}, "items": items}
    )


async def _proxied(cluster: ForwardingCluster, request: web.Request) -> web.Response:
    """As an API server does, who keeps the caller's own token."""
    _allowed(cluster, request)
    asked = request.match_info
    _, where = cluster.services[f"{asked['namespace']}/{asked['name']}"]
    kept = {"authorization", "host", "content-length"}
    headers = {key: text for key, text in request.headers.items() if key.lower() not in kept}
    async with (
        ClientSession(timeout=ClientTimeout(60)) as client,
        client.post(
            f"{where}/{asked['path']}", data=await request.read(), headers=headers
        ) as answer,
    ):
        return web.Response(status=answer.status, body=await answer.read())


async def _token(cluster: ForwardingCluster, request: web.Request) -> web.Response:
    _allowed(cluster, request)
    asked = await request.json()
    assert asked["spec"]["expirationSeconds"] >= 600
    return web.json_response(
        {
            "spec": {"audiences": []},
            "status": {"token": ACCOUNT, "expirationTimestamp": "2030-01-01T00:00:00Z"},
        }
    )


async def _forward(
    cluster: ForwardingCluster, behind: int, request: web.Request
) -> web.StreamResponse:
    _allowed(cluster, request)
    if not cluster.may_forward:
        raise web.HTTPForbidden(text="pods/portforward is forbidden")
    if request.headers.get("Accept", "*/*") != "*/*":
        # As the real one: what a port sends has no type.
        raise web.HTTPNotAcceptable
    assert request.query["ports"] == str(PORT)
    way = web.WebSocketResponse(protocols=["v4.channel.k8s.io"])
    await way.prepare(request)
    first = PORT.to_bytes(2, "little")
    await way.send_bytes(DATA + first)
    await way.send_bytes(ERROR + first)
    reader, writer = await asyncio.open_connection("127.0.0.1", behind)

    async def back() -> None:
        while data := await reader.read(65_536):
            await way.send_bytes(DATA + data)
        await way.close()

    async with asyncio.TaskGroup() as group:
        group.create_task(back())
        async for message in way:
            if message.type is WSMsgType.BINARY and message.data[:1] == DATA:
                writer.write(message.data[1:])
                await writer.drain()
        writer.close()
    return way
