"""As much of an API server as VPA's programs ask: what there is of each kind, and watches in which nothing changes."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Objects = Mapping[str, tuple[str, str, Sequence[Any]]]
"""By the last word of its path: group and version, kind, and all that there are."""

NOTHING_ELSE: Objects = {
    "deployments": ("apps/v1", "Deployment", []),
    "replicasets": ("apps/v1", "ReplicaSet", []),
    "daemonsets": ("apps/v1", "DaemonSet", []),
    "statefulsets": ("apps/v1", "StatefulSet", []),
    "replicationcontrollers": ("v1", "ReplicationController", []),
    "jobs": ("batch/v1", "Job", []),
    "cronjobs": ("batch/v1", "CronJob", []),
    "limitranges": ("v1", "LimitRange", []),
}
"""What they list whether it is there or not."""


@dataclass(slots=True)
class SmallApi:
    objects: Objects
    statuses: dict[str, Any] = field(default_factory=dict)
    """By the name of its object, the last status that somebody has written."""

    @asynccontextmanager
    async def serving(self, *more: web.AbstractRouteDef) -> AsyncIterator[int]:
        """Its port; *more* is served beside it."""
        application = web.Application(client_max_size=1 << 24)
        application.router.add_routes(more)
        application.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(
            application, handler_cancellation=True, shutdown_timeout=1.0, access_log=None
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield runner.addresses[0][1]
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.method == "PATCH":
            return await self._written(request)
        plural = request.path.rpartition("/")[2]
        if request.method != "GET" or plural not in self.objects:
            said = {"kind": "Status", "status": "Failure", "code": 404}
            return web.json_response(said, status=404)
        version, kind, items = self.objects[plural]
        known = [{"apiVersion": version, "kind": kind, **item} for item in items]
        if "watch" not in request.query:
            listed = {
                "apiVersion": version,
                "kind": f"{kind}List",
                "metadata": {"resourceVersion": "1"},
            }
            return web.json_response({**listed, "items": known})
        stream = web.StreamResponse(headers={"Content-Type": "application/json"})
        await stream.prepare(request)
        if request.query.get("sendInitialEvents") == "true":
            marked = {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}
            bookmark = {"apiVersion": version, "kind": kind, "metadata": marked}
            events = [{"type": "ADDED", "object": each} for each in known]
            for event in (*events, {"type": "BOOKMARK", "object": bookmark}):
                await stream.write(json.dumps(event).encode() + b"\n")
        # Nothing changes; the client ends it.
        await asyncio.Event().wait()
        return stream

    async def _written(self, request: web.Request) -> web.Response:
        """A status, as a JSON Patch of all of it."""
        *_, namespace, _, name, what = request.path.split("/")
        (change,) = await request.json()
        assert (what, change["path"]) == ("status", "/status"), request.path
        self.statuses[name] = change["value"]
        return web.json_response({"metadata": {"name": name, "namespace": namespace}})


def kubeconfig(url: str) -> Any:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": url}}],
        "users": [{"name": "here", "user": {}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "here"}}],
    }
