"""The API server of `brain-scale`: TLS, pods and ReplicaSets made as they go out, and reviews.

What a token of its agents claims is believed: its mark is the node.
"""

import asyncio
import base64
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.bench import brain_scale_shape as shape
from tests.bench.brain_scale_tokens import published
from tests.fakes.kube.certificates import AuthorityFiles

VERSION = 10_000_000
BATCH = 100
BOOKMARK_S = 60.0

Lines = Callable[[int, int], Iterator[bytes]]
MADE: dict[str, tuple[int, Lines]] = {
    "pods": (shape.PODS, shape.pods),
    "replicasets": (shape.REPLICA_SETS, shape.replica_sets),
    "jobs": (0, shape.pods),
}


async def watch(request: web.Request) -> web.StreamResponse:
    plural = request.match_info["plural"]
    # There is nothing of other kinds.
    total, lines = MADE.get(plural, (0, shape.pods))
    stream = web.StreamResponse(headers={"Content-Type": "application/json"})
    await stream.prepare(request)
    if request.query.get("sendInitialEvents"):
        for first in range(0, total, BATCH):
            few = lines(first, min(total, first + BATCH))
            await stream.write(b"".join(b'{"type":"ADDED","object":%s}\n' % one for one in few))
        await stream.write(_bookmark({"k8s.io/initial-events-end": "true"}))
    while True:
        await asyncio.sleep(BOOKMARK_S)
        await stream.write(_bookmark({}))


def _bookmark(annotations: dict[str, str]) -> bytes:
    metadata = {"resourceVersion": str(VERSION), "annotations": annotations}
    return json.dumps({"type": "BOOKMARK", "object": {"metadata": metadata}}).encode() + b"\n"


async def review(request: web.Request) -> web.Response:
    asked = (await request.json())["spec"]
    payload = asked["token"].split(".")[1]
    node = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["mark"]
    claim = "authentication.kubernetes.io/node-name"
    user = {
        "username": shape.AGENT,
        "extra": {claim: [node]},
    }
    status = {"authenticated": True, "user": user, "audiences": asked["audiences"]}
    return web.json_response({"status": status}, status=201)


async def discovery(_: web.Request) -> web.Response:
    return web.Response(body=published().discovery)


async def signing_keys(_: web.Request) -> web.Response:
    return web.Response(body=published().keys)


class Kept:
    """The few Secrets and ConfigMaps of our own installation."""

    def __init__(self) -> None:
        self._manifests: dict[str, dict[str, Any]] = {}

    async def create(self, request: web.Request) -> web.Response:
        manifest = await request.json()
        self._manifests[f"{request.path}/{manifest['metadata']['name']}"] = manifest
        return web.json_response(manifest, status=201)

    async def get(self, request: web.Request) -> web.Response:
        manifest = self._manifests.get(request.path)
        if manifest is None:
            missing = {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}
            return web.json_response(missing, status=404)
        return web.json_response(manifest)


async def serve(folder: Path) -> None:
    app, kept = web.Application(), Kept()
    own = "/api/v1/namespaces/nemutator/{kind:secrets|configmaps}"
    webhooks = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/nemutator"
    app.add_routes(
        [
            web.get("/{group:api/v1|apis/apps/v1|apis/batch/v1}/{plural}", watch),
            web.post("/apis/authentication.k8s.io/v1/tokenreviews", review),
            web.get("/.well-known/openid-configuration", discovery),
            web.get("/openid/v1/jwks", signing_keys),
            web.post(own, kept.create),
            web.get(own + "/{name}", kept.get),
            web.get(webhooks, kept.get),
        ]
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    context = AuthorityFiles(folder).server_context()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    # Until whoever started us closes our standard input.
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
