"""How long a real API server waits for admission, by its own metric, over TLS and on the same machine.

Its histogram begins at 5 ms. So its sum is read after each pod: what it has grown by is that pod's wait.
"""

import base64
import functools
import json
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from nemutator_common import names
from nemutator_controller.policies.crds import definition
from nemutator_controller.policies.model import API_VERSION, KIND

from tests.bench import first_light_reviews as reviews
from tests.bench.first_light_admission import (
    CASES,
    UNLIKE,
    Figures,
    admission_started,
    written_files,
)
from tests.testbed.parts import control_plane
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.run import running as testbed_running
from tests.testbed.running.waiting import until

PODS = 100
METRIC = "apiserver_admission_webhook_admission_duration_seconds"
WEBHOOK = "pods.bench.nemutator.io"
LIVE = "a changed policy is followed"
CHANGES = 20
_LABELS = f"/apis/{API_VERSION}/mutationpolicies/labels"
ASKED_ABOUT = {case: CASES[case] for case in ("labels", "policies and injection")} | {
    UNLIKE: reviews.OPTED_IN
}


def waits_for_admission(policies: Mapping[str, Any]) -> Figures:
    """Milliseconds by case. Raises `MissingPartError` where there is no API server to be had."""
    with tempfile.TemporaryDirectory(prefix="asking-") as name, ExitStack() as stack:
        folder = Path(name)
        written_files(folder, ())
        cluster = control_plane.begin(stack.enter_context(testbed_running()))
        _fill(cluster, policies)
        address, process = admission_started(
            stack, folder, cluster.admin_token, cluster.ca_file.read_bytes(), cluster.port
        )
        process.wait_ready(folder / "data" / f"{names.ADMISSION}.sock")
        cluster.apply(_webhook(f"https://{address}/mutate", (folder / "ca.crt").read_bytes()))
        waits = {
            case: _waits(cluster, namespace, unlike=case == UNLIKE)
            for case, namespace in ASKED_ABOUT.items()
        }
        return waits | {LIVE: _live(cluster)}


def _fill(cluster: Cluster, policies: Mapping[str, Any]) -> None:
    cluster.apply(definition())
    until(lambda: _is_served(cluster), "policies are served", within_s=60)
    cluster.apply(
        *(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
            for name, labels in reviews.NAMESPACES.items()
        ),
        *(
            {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": "checkout", "namespace": name},
            }
            for name in reviews.NAMESPACES
        ),
        *(
            {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}
            for name, spec in policies.items()
        ),
    )


def _is_served(cluster: Cluster) -> bool:
    status, _ = cluster.ask(f"/apis/{API_VERSION}/mutationpolicies")
    return status == 200


def _webhook(url: str, authority: bytes) -> Any:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "bench"},
        "webhooks": [
            {
                "name": WEBHOOK,
                "clientConfig": {"url": url, "caBundle": base64.b64encode(authority).decode()},
                "rules": [
                    {
                        "operations": ["CREATE"],
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "resources": ["pods"],
                    }
                ],
                "admissionReviewVersions": ["v1"],
                "sideEffects": "NoneOnDryRun",
                "failurePolicy": "Fail",
                "timeoutSeconds": 10,
            }
        ],
    }


def _waits(cluster: Cluster, namespace: str, *, unlike: bool) -> Figures:
    written = json.dumps(reviews.pod(namespace))
    waits: list[float] = []
    before = _sum(cluster)
    for number in range(PODS):
        pod = written.replace(reviews.CONTAINER, f"{number:05}") if unlike else written
        path = f"/api/v1/namespaces/{namespace}/pods"
        status, made = cluster.ask(path, method="POST", given=json.loads(pod))
        assert status == 201, made
        assert names.MUTATION in json.loads(made)["metadata"]["annotations"], made
        after = _sum(cluster)
        waits.append((after - before) * 1e3)
        before = after
    waits.sort()
    return {
        "pods": PODS,
        "p50_ms": round(statistics.median(waits), 2),
        "p90_ms": round(waits[len(waits) * 9 // 10], 2),
        "least_ms": round(waits[0], 2),
    }


def _live(cluster: Cluster) -> Figures:
    """How long until a policy that was changed is followed, from the answer to its change."""
    spec = json.loads(cluster.ask(f"{_LABELS}")[1])["spec"]
    took: list[float] = []
    for number in range(CHANGES):
        spec["mutations"][0]["labels"]["set"]["team"] = f"team-{number}"
        changed = json.loads(cluster.ask(_LABELS)[1]) | {"spec": spec}
        status, answer = cluster.ask(_LABELS, method="PUT", given=changed)
        assert status == 200, answer
        began = time.monotonic()
        until(
            functools.partial(_is_followed, cluster, f"team-{number}"),
            "the changed policy is followed",
            within_s=60,
        )
        took.append((time.monotonic() - began) * 1e3)
    took.sort()
    return {
        "changes": CHANGES,
        "p50_ms": round(statistics.median(took), 1),
        "most_ms": round(took[-1], 1),
    }


def _is_followed(cluster: Cluster, team: str) -> bool:
    path = f"/api/v1/namespaces/{reviews.PLAIN}/pods?dryRun=All"
    status, made = cluster.ask(path, method="POST", given=reviews.pod(reviews.PLAIN))
    assert status == 201, made
    return bool(json.loads(made)["metadata"]["labels"].get("team") == team)


def _sum(cluster: Cluster) -> float:
    """Seconds that the API server has waited for this webhook in all."""
    status, text = cluster.ask("/metrics")
    assert status == 200, text
    return sum(_values(text))


def _values(text: str) -> Iterator[float]:
    for labels, value in re.findall(rf"^{METRIC}_sum{{(.*)}} (\S+)$", text, re.MULTILINE):
        if f'name="{WEBHOOK}"' in labels:
            yield float(value)
