"""The API server of `scrape`: nodes, pods, ReplicaSets and Deployments of any number, made as they go out."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from aiohttp import web

from tests.bench import brain_scale_shape as shape
from tests.bench.kube_server import NODE_BYTES
from tests.bench.kube_server import node as plain_node

VERSION = 10_000_000
BATCH = 100
KINDS = {
    "pods": "PodList",
    "nodes": "NodeList",
    "replicasets": "ReplicaSetList",
    "deployments": "DeploymentList",
}
DEPLOYMENT_BYTES = 3_000


def _sized(manifest: dict[str, Any], size: int) -> shape.Template:
    """*manifest* brought to *size* by managedFields, as real objects are."""
    fields: dict[str, Any] = {}
    manifest["metadata"]["managedFields"] = [{"manager": "kubelet", "fieldsV1": fields}]
    while len(json.dumps(manifest)) < size:
        fields[f'k:{{"name":"item-{len(fields)}"}}'] = {".": {}, "f:value": {"f:ref": {}}}
    return shape.Template(shape.compact(manifest))


def _node() -> shape.Template:
    manifest = plain_node()
    manifest["metadata"] |= {
        "name": "node-@@i@@",
        "uid": "n-@@i@@",
        "resourceVersion": "@@i@@",
        "labels": {"kubernetes.io/hostname": "node-@@i@@", "zone": "z"},
    }
    manifest["status"]["conditions"] = [
        {"type": kind, "status": status, "reason": f"Kubelet{kind}", "message": "as it should be"}
        for kind, status in (
            ("MemoryPressure", "False"),
            ("DiskPressure", "False"),
            ("Ready", "True"),
        )
    ]
    return _sized(manifest, NODE_BYTES)


def _deployment() -> shape.Template:
    container = {"name": "app", "image": "registry.example/app:v1", "resources": {
        "requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}}}  # fmt: skip
    return _sized(
        {
            "metadata": {
                "name": "app-@@i@@",
                "namespace": "team-@@namespace@@",
                "uid": "d-@@i@@",
                "resourceVersion": "@@i@@",
            },
            "spec": {
                "replicas": shape.PODS_PER_WORKLOAD,
                "strategy": {"type": "RollingUpdate"},
                "selector": {"matchLabels": {"app": "app-@@i@@"}},
                "template": {
                    "metadata": {"labels": {"app": "app-@@i@@"}},
                    "spec": {"containers": [container, {**container, "name": "proxy"}]},
                },
            },
            "status": {
                "replicas": shape.PODS_PER_WORKLOAD,
                "readyReplicas": shape.PODS_PER_WORKLOAD,
            },
        },
        DEPLOYMENT_BYTES,
    )


NODE, DEPLOYMENT = _node(), _deployment()


def numbered(template: shape.Template) -> Callable[[int, int], Iterator[bytes]]:
    def made(first: int, end: int) -> Iterator[bytes]:
        for number in range(first, end):
            text = b"%d" % number
            namespace = b"%d" % (number % shape.NAMESPACES)
            yield template.fill({"i": text, "namespace": namespace})

    return made


def pods(first: int, end: int) -> Iterator[bytes]:
    """With what the official client must have."""
    for one in shape.pods(first, end):
        yield one.replace(b'"ready":true,', b'"ready":true,"imageID":"sha256:1",')


def whole_replica_sets(first: int, end: int) -> Iterator[bytes]:
    """As they are in lists of those who want more than metadata."""
    spec = b',"spec":{"replicas":15,"selector":{"matchLabels":{"app":"app"}}}}'
    for one in shape.replica_sets(first, end):
        yield one[:-1] + spec


class Server:
    def __init__(self, nodes: int, pod_count: int) -> None:
        workloads = -(-pod_count // shape.PODS_PER_WORKLOAD)
        # The shape's own numbers are those of the largest cluster.
        shape.NODES, shape.PODS, shape.WORKLOADS = nodes, pod_count, workloads
        self._made = {
            "nodes": (nodes, numbered(NODE)),
            "pods": (pod_count, pods),
            "replicasets": (6 * workloads, shape.replica_sets),
            "deployments": (workloads, numbered(DEPLOYMENT)),
        }

    async def answer(self, request: web.Request) -> web.StreamResponse:
        plural = request.match_info["plural"]
        total, lines = self._made.get(plural, (0, pods))
        if request.query.get("watch"):
            return await self._watch(request, total, lines)
        after = int(request.query.get("continue") or 0)
        end = min(total, after + int(request.query.get("limit") or total))
        metadata = {"resourceVersion": str(VERSION), "continue": str(end) if end < total else ""}
        kind = KINDS.get(plural, "List")
        head = json.dumps({"apiVersion": "v1", "kind": kind, "metadata": metadata}).encode()
        if lines is shape.replica_sets:
            lines = whole_replica_sets
        body = head[:-1] + b',"items":[' + b",".join(lines(after, end)) + b"]}"
        return web.Response(body=body, content_type="application/json")

    async def _watch(
        self, request: web.Request, total: int, lines: Callable[[int, int], Iterator[bytes]]
    ) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Type": "application/json"})
        await stream.prepare(request)
        if request.query.get("sendInitialEvents"):
            for first in range(0, total, BATCH):
                few = lines(first, min(total, first + BATCH))
                await stream.write(b"".join(b'{"type":"ADDED","object":%s}\n' % one for one in few))
            end = {"k8s.io/initial-events-end": "true"}
            metadata = {"resourceVersion": str(VERSION), "annotations": end}
            bookmark = {"type": "BOOKMARK", "object": {"metadata": metadata}}
            await stream.write(json.dumps(bookmark).encode() + b"\n")
        # Nothing changes until the client goes.
        await asyncio.Event().wait()
        return stream


async def serve(nodes: int, pod_count: int) -> None:
    server, app = Server(nodes, pod_count), web.Application()
    app.add_routes(
        [
            web.get("/api/v1/{plural}", server.answer),
            web.get("/apis/{group}/{version}/{plural}", server.answer),
        ]
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(f"http://127.0.0.1:{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    # Until whoever started us closes our standard input.
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2])))
