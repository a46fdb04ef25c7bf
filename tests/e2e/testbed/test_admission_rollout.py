"""A rollout of admission while pods are created without a pause: each is created, and explained if unchanged."""

import json
from pathlib import Path

import pytest

from tests.e2e.testbed.admission_service import (
    admission_service,
    api_server_log,
    creating,
    let_in_unasked,
)
from tests.e2e.testbed.webhook import create, define, pod, policy
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.node.node import Node
from tests.testbed.running.waiting import until

CREATORS, PAUSE_S = 6, 0.05

LATE = ("deadline exceeded", "Client.Timeout", "timeout awaiting")
"""What the API server says of an answer that did not come in time: the machine may be busy."""


@pytest.mark.timeout(300)  # a control plane that may be busy, and four processes with their imports
def test_no_review_is_lost_as_one_replica_after_another_is_replaced(
    cluster: Cluster, node: Node, namespace: str, tmp_path: Path
) -> None:
    define(cluster)
    cluster.apply(policy("team", namespace, {"labels": {"set": {"team": "a"}}}))
    # An endpoint may not be a loopback address; the node's bridge leads nowhere either.
    with admission_service(cluster, str(node.network.address), tmp_path) as service:
        old = [service.start("a"), service.start("b")]
        for replica in old:
            service.add(replica)

        def changed() -> bool:
            made = create(cluster, namespace, pod(), "--dry-run=server")
            return bool(made["metadata"].get("labels", {}).get("team") == "a")

        until(changed, "a replica is asked", within_s=60)
        before = api_server_log(cluster).stat().st_size
        with creating(cluster, namespace, pod(), creators=CREATORS, pause_s=PAUSE_S) as made:
            for name, replica in zip("cd", old, strict=True):
                service.add(service.start(name))
                service.take_away(replica)
        unasked = let_in_unasked(cluster, before)
        summary = {
            "pods": made.asked,
            "changed": made.stamped,
            "told": made.told,
            "let_in_unasked": made.unstamped,
        }
        print(json.dumps(summary), *unasked, sep="\n")
    assert made.refused == []
    assert made.stamped
    # Each is counted by the API server, and only a late answer may be the reason.
    assert len(unasked) == made.unstamped
    assert [line for line in unasked if not any(word in line for word in LATE)] == []
