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
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from nemutator_common import names
from nemutator_controller.policies.crds import definition
from nemutator_controller.policies.model import API_VERSION, KIND

from tests.bench import first_light_reviews as reviews
from tests.bench.api_server_peers import EMPTY, FLOOR, SAME_PATCH, WHAT, peers_started
from tests.bench.first_light_admission import (
    CASES,
    UNLIKE,
    Figures,
    admission_started,
    written_files,
)
from tests.e2e.talking import counted
from tests.testbed.parts import control_plane
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.run import running as testbed_running
from tests.testbed.running.waiting import until

PODS = 100
METRIC = "apiserver_admission_webhook_admission_duration_seconds"
OURS = "ours"
LIVE = "a changed policy is followed"
CHANGES = 20
_LABELS = f"/apis/{API_VERSION}/mutationpolicies/labels"
ASKED_ABOUT = {case: CASES[case] for case in ("labels", "policies and injection")} | {
    UNLIKE: reviews.OPTED_IN
}
NAMESPACES: Mapping[str, Mapping[str, str]] = {
    **reviews.NAMESPACES,
    **{name: {"team": "peers"} for name in WHAT},
}


def waits_for_admission(
    policies: Mapping[str, Any], program: Path, patch: bytes
) -> tuple[Figures, Figures]:
    """Milliseconds by case, and by what peer. Raises `MissingPartError` where there is no API server to be had.

    *program*: the peers in Go. *patch*: that of three policies and injection.
    """
    with tempfile.TemporaryDirectory(prefix="asking-") as name, ExitStack() as stack:
        folder = Path(name)
        written_files(folder, ())
        cluster = control_plane.begin(stack.enter_context(testbed_running()))
        _fill(cluster, policies)
        address, process = admission_started(
            stack, folder, cluster.admin_token, cluster.ca_file.read_bytes(), cluster.port
        )
        socket = folder / "data" / f"{names.ADMISSION}.sock"
        process.wait_ready(socket)
        urls = peers_started(stack, folder, program, patch)
        authority = (folder / "ca.crt").read_bytes()
        cluster.apply(
            _webhook(OURS, f"https://{address}/mutate", authority, list(reviews.NAMESPACES)),
            *(_webhook(peer, url, authority, [peer]) for peer, url in urls.items()),
        )
        sums: _Sums = defaultdict(lambda: (0.0, 0.0))
        cases = {
            case: _Case(sums, OURS, namespace, unlike=case == UNLIKE, socket=socket)
            for case, namespace in ASKED_ABOUT.items()
        } | {WHAT[peer]: _Case(sums, peer, peer) for peer in urls}
        for number in range(PODS):
            # By turns: what else the machine does slows all of them down.
            for case in cases.values():
                case.create(cluster, number)
        waits = {what: case.figures() for what, case in cases.items()}
        ours = {case: waits[case] for case in ASKED_ABOUT} | {LIVE: _live(cluster)}
        return ours, {what: waits[what] for what in WHAT.values()}


_Sums = dict[str, tuple[float, float]]
"""By webhook, what the API server has waited for it so far, and what it says itself of that: one pod is made at a time."""


class _Case:
    """Pods of one kind, of which the API server asks one webhook."""

    def __init__(
        self,
        sums: "_Sums",
        webhook: str,
        namespace: str,
        *,
        unlike: bool = False,
        socket: Path | None = None,
    ) -> None:
        """*socket*: of our own process, by whose metric its own part is known."""
        self._sums = sums
        self._webhook, self._namespace, self._unlike = webhook, namespace, unlike
        self._socket = socket
        self._written = json.dumps(reviews.pod(namespace))
        self._waits: list[float] = []
        self._own: list[float] = []

    def create(self, cluster: Cluster, number: int) -> None:
        pod = self._written
        if self._unlike:
            pod = pod.replace(reviews.CONTAINER, f"{number:05}")
        before, own_before = self._sums[self._webhook]
        path = f"/api/v1/namespaces/{self._namespace}/pods"
        status, made = cluster.ask(path, method="POST", given=json.loads(pod))
        assert status == 201, made
        metadata = json.loads(made)["metadata"]
        assert (names.MUTATION in metadata["annotations"]) == (
            self._webhook in (OURS, SAME_PATCH, FLOOR)
        ), made
        assert (metadata["labels"].get("team") == reviews.LABELS["team"]) == (
            self._webhook != EMPTY
        ), made
        waited, own = _sum(cluster, self._webhook), self._own_sum()
        self._waits.append((waited - before) * 1e3)
        self._own.append((own - own_before) * 1e3)
        self._sums[self._webhook] = waited, own

    def figures(self) -> Figures:
        waits = sorted(self._waits)
        own = {"own_p50_ms": round(statistics.median(self._own), 2)} if self._socket else {}
        return {
            "pods": PODS,
            "p50_ms": round(statistics.median(waits), 2),
            "p90_ms": round(waits[len(waits) * 9 // 10], 2),
            "least_ms": round(waits[0], 2),
        } | own

    def _own_sum(self) -> float:
        """Seconds that our process has taken in all, from a question that is all there to the last byte of its answer."""
        if self._socket is None:
            return 0.0
        metric = f"{names.HTTP_REQUEST_SECONDS.name}_sum"
        return counted(self._socket, metric, listener="webhook")


def _fill(cluster: Cluster, policies: Mapping[str, Any]) -> None:
    cluster.apply(definition())
    until(lambda: _is_served(cluster), "policies are served", within_s=60)
    cluster.apply(
        *(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
            for name, labels in NAMESPACES.items()
        ),
        *(
            {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": "checkout", "namespace": name},
            }
            for name in NAMESPACES
        ),
        *(
            {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}
            for name, spec in policies.items()
        ),
    )


def _is_served(cluster: Cluster) -> bool:
    status, _ = cluster.ask(f"/apis/{API_VERSION}/mutationpolicies")
    return status == 200


def _webhook(name: str, url: str, authority: bytes, namespaces: list[str]) -> Any:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": _full(name),
                "clientConfig": {"url": url, "caBundle": base64.b64encode(authority).decode()},
                "namespaceSelector": {
                    "matchExpressions": [
                        {
                            "key": "kubernetes.io/metadata.name",
                            "operator": "In",
                            "values": namespaces,
                        }
                    ]
                },
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


def _full(webhook: str) -> str:
    """Its name, as the API server wants it."""
    return f"{webhook}.bench.nemutator.io"


def _sum(cluster: Cluster, webhook: str) -> float:
    """Seconds that the API server has waited for that *webhook* in all."""
    status, text = cluster.ask("/metrics")
    assert status == 200, text
    return sum(_values(text, webhook))


def _values(text: str, webhook: str) -> Iterator[float]:
    for labels, value in re.findall(rf"^{METRIC}_sum{{(.*)}} (\S+)$", text, re.MULTILINE):
        if f'name="{_full(webhook)}"' in labels:
            yield float(value)
