"""VPA's own admission controller, built from its module, at the edits that a policy of ours makes.

It watches a small API server that has what it looks for: one VerticalPodAutoscaler with a
recommendation, the Deployment that it is for, and that one's ReplicaSet.
"""

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.bench import first_light_reviews as reviews
from tests.bench.first_light_admission import (
    ANSWERING_CPU,
    CASES,
    Figures,
    asked,
    cpu_per_answer,
    written_files,
)
from tests.bench.first_light_processes import EndedError, Process, running
from tests.testbed.running.ports import free_port
from tests.testbed.running.waiting import until

REPOSITORY = Path(__file__).parents[2]
MODULE = "k8s.io/autoscaler/vertical-pod-autoscaler"
VERSION = "1.8.1"

CASE = "requests and two annotations, as VPA's admission controller sets"

POLICY: Mapping[str, Any] = {
    "match": {"namespaces": [reviews.SIZED]},
    "mode": "Apply",
    "mutations": [
        {
            "resources": {
                "requests": {name: {"value": text} for name, text in reviews.REQUESTS.items()}
            }
        },
        {
            "annotations": {
                "set": {
                    "vpaUpdates": "Pod resources updated by checkout: container 0: cpu request, "
                    "memory request; container 1: cpu request, memory request",
                    "vpaObservedContainers": "app, proxy",
                }
            }
        },
    ],
}
"""The same edits: the four requests and the two annotations that VPA writes."""

assert reviews.SIZED not in CASES.values()


def built() -> Path:
    """The program of the version in `vpa_go/go.mod`; where Go can fetch no modules, an error says so."""
    target = REPOSITORY / ".build" / f"vpa-admission-{VERSION}"
    if not target.exists():
        own = REPOSITORY / ".build/go/go/bin/go"
        go = next((path for path in (Path("/usr/local/go/bin/go"), own) if path.exists()), "go")
        subprocess.run(
            [go, "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w",
             "-o", target, f"{MODULE}/pkg/admission-controller"],
            cwd=Path(__file__).parent / "vpa_go", check=True, timeout=1_800,
            env={**os.environ, "GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local",
                 "CGO_ENABLED": "0"},
        )  # fmt: skip
    return target


def vpa(client: Path) -> Figures:
    """Its answers on one core to questions of *client*."""
    with tempfile.TemporaryDirectory(prefix="vpa-") as folder:
        return asyncio.run(_measured(client, built(), Path(folder)))


async def _measured(client: Path, program: Path, folder: Path) -> Figures:
    written_files(folder, [reviews.SIZED])
    async with _api() as port:
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(json.dumps(_kubeconfig(f"http://127.0.0.1:{port}")))
        here, metrics = free_port(), free_port()
        with running(
            "vpa",
            [str(program), f"--kubeconfig={kubeconfig}", "--register-webhook=false",
             f"--port={here}", f"--address=127.0.0.1:{metrics}",
             f"--tls-cert-file={folder / 'server.crt'}",
             f"--tls-private-key={folder / 'server.key'}", f"--client-ca-file={folder / 'ca.crt'}",
             # Not the four lines about each pod that it writes by default.
             "--v=0", "--stderrthreshold=3"],
            folder, cpu=ANSWERING_CPU, environment={"GOMAXPROCS": "1", "NAMESPACE": "default"},
        ) as process:  # fmt: skip
            url = f"https://127.0.0.1:{here}/"
            question = client, folder, url, reviews.SIZED, reviews.RANDOM
            await asyncio.to_thread(
                until, lambda: _listens(process, here), "it listens", within_s=60
            )
            found = await asked(*question)
            found["cpu_ms"] = await cpu_per_answer(process, *question)
            found["busy_mib"] = process.rss_anon_mib()
            return found


def _listens(process: Process, port: int) -> bool:
    if process.popen.poll() is not None:
        raise EndedError(process)
    return f":{port:04X} " in Path("/proc/net/tcp6").read_text()


def _kubeconfig(url: str) -> Any:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": url}}],
        "users": [{"name": "here", "user": {}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "here"}}],
    }


def _named(name: str, **more: Any) -> Any:
    return {"name": name, "namespace": reviews.SIZED, "uid": name, "resourceVersion": "1", **more}


_LABELS = {"app.kubernetes.io/name": "checkout"}
_TEMPLATE = {"metadata": {"labels": _LABELS}, "spec": {"containers": []}}
_SPEC = {"selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}
_DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "checkout"}

OBJECTS: Mapping[str, tuple[str, str, Sequence[Any]]] = {
    "deployments": ("apps/v1", "Deployment", [{"metadata": _named("checkout"), "spec": _SPEC}]),
    "replicasets": (
        "apps/v1",
        "ReplicaSet",
        [
            {
                "metadata": _named(
                    f"checkout-{reviews.REVISION}",
                    ownerReferences=[{**_DEPLOYMENT, "uid": "checkout", "controller": True}],
                ),
                "spec": _SPEC,
            }
        ],
    ),
    "verticalpodautoscalers": (
        "autoscaling.k8s.io/v1",
        "VerticalPodAutoscaler",
        [
            {
                "metadata": _named("checkout"),
                "spec": {
                    "targetRef": _DEPLOYMENT,
                    "updatePolicy": {"updateMode": "Initial"},
                    "resourcePolicy": {
                        "containerPolicies": [
                            {"containerName": "*", "controlledValues": "RequestsOnly"}
                        ]
                    },
                },
                "status": {
                    "recommendation": {
                        "containerRecommendations": [
                            {"containerName": name, "target": reviews.REQUESTS}
                            for name in ("app", "proxy")
                        ]
                    }
                },
            }
        ],
    ),
    "daemonsets": ("apps/v1", "DaemonSet", []),
    "statefulsets": ("apps/v1", "StatefulSet", []),
    "replicationcontrollers": ("v1", "ReplicationController", []),
    "jobs": ("batch/v1", "Job", []),
    "cronjobs": ("batch/v1", "CronJob", []),
    "limitranges": ("v1", "LimitRange", []),
}
"""By the last word of its path: group and version, kind, and all that there are."""


@asynccontextmanager
async def _api() -> AsyncIterator[int]:
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", _answer)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def _answer(request: web.Request) -> web.StreamResponse:
    plural = request.path.rpartition("/")[2]
    if request.method != "GET" or plural not in OBJECTS:
        return web.json_response({"kind": "Status", "status": "Failure", "code": 404}, status=404)
    version, kind, items = OBJECTS[plural]
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
