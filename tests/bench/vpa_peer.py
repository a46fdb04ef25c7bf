"""VPA's own admission controller, built from its module, at the edits that a policy of ours makes.

It watches a small API server that has what it looks for: one VerticalPodAutoscaler with a
recommendation, the Deployment that it is for, and that one's ReplicaSet.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

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
from tests.bench.vpa_api import NOTHING_ELSE, Objects, SmallApi, kubeconfig
from tests.bench.vpa_programs import MODULE, VERSION, built
from tests.testbed.running.ports import free_port
from tests.testbed.running.waiting import until

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


def vpa(client: Path) -> Figures:
    """Its answers on one core to questions of *client*."""
    with tempfile.TemporaryDirectory(prefix="vpa-") as folder:
        return asyncio.run(_measured(client, Path(folder)))


async def _measured(client: Path, folder: Path) -> Figures:
    written_files(folder, [reviews.SIZED])
    async with vpa_started(folder) as (url, process):
        question = client, folder, url, reviews.SIZED, reviews.RANDOM
        found = await asked(*question)
        found["cpu_ms"] = await cpu_per_answer(process, *question)
        found["busy_mib"] = process.rss_anon_mib()
        return found


@asynccontextmanager
async def vpa_started(
    folder: Path, *, cpu: int | None = ANSWERING_CPU, threads: int = 1
) -> AsyncIterator[tuple[str, Process]]:
    """URL and process; the certificate is in *folder*."""
    program = built(f"{MODULE}/pkg/admission-controller", f"vpa-admission-{VERSION}")
    async with SmallApi(OBJECTS).serving() as port:
        api = folder / "kubeconfig"
        api.write_text(json.dumps(kubeconfig(f"http://127.0.0.1:{port}")))
        here, metrics = free_port(), free_port()
        with running(
            "vpa",
            [str(program), f"--kubeconfig={api}", "--register-webhook=false",
             f"--port={here}", f"--address=127.0.0.1:{metrics}",
             f"--tls-cert-file={folder / 'server.crt'}",
             f"--tls-private-key={folder / 'server.key'}", f"--client-ca-file={folder / 'ca.crt'}",
             # Not the four lines about each pod that it writes by default.
             "--v=0", "--stderrthreshold=3"],
            folder, cpu=cpu, environment={"GOMAXPROCS": str(threads), "NAMESPACE": "default"},
        ) as process:  # fmt: skip
            await asyncio.to_thread(
                until, lambda: _listens(process, here), "it listens", within_s=60
            )
            yield f"https://127.0.0.1:{here}/", process


def _listens(process: Process, port: int) -> bool:
    if process.popen.poll() is not None:
        raise EndedError(process)
    return f":{port:04X} " in Path("/proc/net/tcp6").read_text()


def _named(name: str, **more: Any) -> Any:
    return {"name": name, "namespace": reviews.SIZED, "uid": name, "resourceVersion": "1", **more}


_LABELS = {"app.kubernetes.io/name": "checkout"}
_TEMPLATE = {"metadata": {"labels": _LABELS}, "spec": {"containers": []}}
_SPEC = {"selector": {"matchLabels": _LABELS}, "template": _TEMPLATE}
_DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "checkout"}

OBJECTS: Objects = {
    **NOTHING_ELSE,
    "deployments": ("apps/v1", "Deployment", [{"metadata": _named("checkout"), "spec": _SPEC}]),
    "replicasets": (
        "apps/v1",
        "ReplicaSet",
        [
            {
                "metadata": _named(
                    f"{reviews.WORKLOAD}-{reviews.REVISION}",
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
}
