"""An API server of nothing but bytes: lists, watches and churn, made from templates as they go out.

A process of its own, so that what the client costs is the client's. 150 000 pods of 6 KB are 0.9 GB:
each batch of lines is filled in while it is sent, and nothing is kept.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aiohttp import web

POD_BYTES = 6_000
REPLICA_SET_BYTES = 1_500
NODE_BYTES = 4_000
NODES = 5_000
CHURN_BATCH = 100

HOLE = "@@%s@@"


@dataclass(frozen=True)
class Template:
    """An object with four holes, cut into pieces once."""

    pieces: tuple[bytes, ...]

    def fill(self, *values: bytes) -> bytes:
        parts = [self.pieces[0]]
        for value, piece in zip(values, self.pieces[1:], strict=True):
            parts += (value, piece)
        return b"".join(parts)


def template(manifest: dict[str, Any], size: int) -> Template:
    """*manifest* brought to *size* by managedFields, as real objects are; holes are i, v, n, r."""
    managed: list[dict[str, Any]] = [
        {"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
         "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:metadata": {"f:labels": {}}}}
        for manager in ("kube-controller-manager", "kubelet")
    ]  # fmt: skip
    manifest["metadata"]["managedFields"] = managed
    number = 0
    while len(json.dumps(manifest, separators=(",", ":"))) < size - 100:
        # As the server writes them: an object for each field that somebody owns.
        key = f'k:{{"name":"item-{number}"}}'
        managed[number % 2]["fieldsV1"][key] = {".": {}, "f:name": {}, "f:value": {"f:ref": {}}}
        number += 1
    text = json.dumps(manifest, separators=(",", ":")).encode()
    pieces = []
    for hole in (b"@@i1@@", b"@@i2@@", b"@@v@@", b"@@n@@", b"@@i3@@"):
        piece, _, text = text.partition(hole)
        pieces.append(piece)
    return Template((*pieces, text))


def probe(period: int) -> dict[str, Any]:
    return {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
            "periodSeconds": period, "timeoutSeconds": 1, "failureThreshold": 3}  # fmt: skip


def pod() -> dict[str, Any]:
    container = {
        "name": "app",
        "image": "registry.example/team/app:v1.2.3",
        "resources": {
            "requests": {"cpu": "100m", "memory": "256Mi"},
            "limits": {"cpu": "1", "memory": "512Mi"},
        },
        "env": [{"name": f"VARIABLE_{number}", "value": "value"} for number in range(8)],
        "livenessProbe": probe(10),
        "readinessProbe": probe(5),
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePath": "/dev/termination-log",
        "securityContext": {"runAsNonRoot": True, "allowPrivilegeEscalation": False},
        "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets", "readOnly": True}],
    }
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    ]
    return {
        "metadata": {
            "name": "app-@@i1@@",
            "namespace": "team",
            "uid": "7b1c9a52-0000-4000-8000-@@i2@@",
            "resourceVersion": "@@v@@",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": "app", "pod-template-hash": "5d4f8c7b9", "tier": "web"},
            "annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "app-5d4f8c7b9",
                 "uid": "rs-uid", "controller": True, "blockOwnerDeletion": True}
            ],
        },
        "spec": {
            "nodeName": "node-@@n@@",
            "containers": [container],
            "serviceAccountName": "app",
            "restartPolicy": "Always",
            "dnsPolicy": "ClusterFirst",
            "schedulerName": "default-scheduler",
            "tolerations": [
                {"key": f"node.kubernetes.io/{why}", "operator": "Exists", "effect": "NoExecute",
                 "tolerationSeconds": 300}
                for why in ("not-ready", "unreachable")
            ],
            "volumes": [{"name": "token", "projected": {"sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            ]}}],
        },
        "status": {
            "phase": "Running",
            "qosClass": "Burstable",
            "podIP": "10.0.0.1",
            "startTime": "2026-01-01T00:00:00Z",
            "conditions": conditions,
            "containerStatuses": [
                {"name": "app", "ready": True, "restartCount": 0, "image": "app", "imageID": "sha256:1",
                 "containerID": "containerd://@@i3@@" + "0" * 52, "state": {"running": {}}}
            ],
        },
    }  # fmt: skip


def replica_set() -> dict[str, Any]:
    return {
        "metadata": {
            "name": "app-@@i1@@",
            "namespace": "team",
            "uid": "1f0c9a52-0000-4000-8000-@@i2@@",
            "resourceVersion": "@@v@@",
            "labels": {"app": "app", "pod-template-hash": "@@n@@"},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "Deployment", "name": "app", "uid": "d-@@i3@@"}
            ],
        }
    }


def node() -> dict[str, Any]:
    return {
        "metadata": {"name": "node-@@i1@@", "uid": "n-@@i2@@", "resourceVersion": "@@v@@",
                     "labels": {"kubernetes.io/hostname": "node-@@n@@", "zone": "z-@@i3@@"}},
        "spec": {},
        "status": {
            "capacity": {"cpu": "32", "memory": "128Gi", "pods": "110"},
            "allocatable": {"cpu": "31", "memory": "120Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }  # fmt: skip


TEMPLATES = {
    "pods": template(pod(), POD_BYTES),
    "replicasets": template(replica_set(), REPLICA_SET_BYTES),
    "nodes": template(node(), NODE_BYTES),
}
KINDS = {"pods": "PodList", "replicasets": "PartialObjectMetadataList", "nodes": "NodeList"}


def objects(plural: str, first: int, end: int, version: int = 0) -> Iterator[bytes]:
    shape = TEMPLATES[plural]
    for number in range(first, end):
        i, v = b"%012d" % number, b"%d" % (version or number + 1)
        yield shape.fill(i, i, v, b"%d" % (number % NODES), i)


class Server:
    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts
        self._version = 10_000_000

    async def answer(self, request: web.Request) -> web.StreamResponse:
        plural = request.match_info["plural"]
        if request.query.get("watch"):
            return await self._watch(request, plural)
        after = int(request.query.get("continue") or 0)
        total = min(self._counts[plural], int(request.query.get("total", 1 << 30)))
        end = min(total, after + int(request.query.get("limit") or total))
        metadata = {
            "resourceVersion": str(self._version),
            "continue": str(end) if end < total else "",
        }
        head = {"apiVersion": "v1", "kind": KINDS[plural], "metadata": metadata}
        start = json.dumps(head).encode()[:-1] + b',"items":['
        body = start + b",".join(objects(plural, after, end)) + b"]}"
        return web.Response(body=body, content_type="application/json")

    async def _watch(self, request: web.Request, plural: str) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Type": "application/json"})
        await stream.prepare(request)
        total = self._counts[plural]
        if request.query.get("sendInitialEvents"):
            for first in range(0, total, CHURN_BATCH):
                few = objects(plural, first, min(total, first + CHURN_BATCH))
                await stream.write(b"".join(b'{"type":"ADDED","object":%s}\n' % one for one in few))
            end = {"k8s.io/initial-events-end": "true"}
            metadata = {"resourceVersion": str(self._version), "annotations": end}
            bookmark = {"type": "BOOKMARK", "object": {"metadata": metadata}}
            await stream.write(json.dumps(bookmark).encode() + b"\n")
        await self._churn(request, stream, plural)
        return stream

    async def _churn(self, request: web.Request, stream: web.StreamResponse, plural: str) -> None:
        """As many changes as are asked for by `POST /churn`; then silence until the client goes."""
        app = request.app
        while True:
            async with app[CHURN_ASKED]:
                await app[CHURN_ASKED].wait_for(lambda: app[CHURN].get(plural, 0) > 0)
                events = app[CHURN].pop(plural)
            for first in range(0, events, CHURN_BATCH):
                lines = []
                for number in range(first, first + CHURN_BATCH):
                    self._version += 1
                    which = number % self._counts[plural]
                    (manifest,) = objects(plural, which, which + 1, self._version)
                    lines.append(b'{"type":"MODIFIED","object":%s}\n' % manifest)
                await stream.write(b"".join(lines))

    async def churn(self, request: web.Request) -> web.Response:
        app = request.app
        async with app[CHURN_ASKED]:
            app[CHURN][request.match_info["plural"]] = int(request.query["events"])
            app[CHURN_ASKED].notify_all()
        return web.Response()


CHURN_ASKED = web.AppKey("churn_asked", asyncio.Condition)
CHURN = web.AppKey("churn", dict[str, int])


async def serve(counts: dict[str, int]) -> None:
    server, app = Server(counts), web.Application()
    app[CHURN_ASKED] = asyncio.Condition()
    app[CHURN] = {}
    app.add_routes(
        [
            web.post("/churn/{plural}", server.churn),
            web.get("/api/v1/{plural}", server.answer),
            web.get("/apis/apps/v1/{plural}", server.answer),
        ]
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    sys.stdout.write(f"http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    # Until whoever started us closes our standard input.
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(json.loads(sys.argv[1])))
