"""What is told is whole, at once, and learned from pods that are let go."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.mutations.stamps import Stamp, written

from tests.contract.pod_selection.test_unwanted_labels import WITHOUT, deployment, watched
from tests.controller.pod_selection.test_unwanted_labels import LABEL
from tests.fakes.kube import kinds
from tests.fakes.kube.server import FakeKube

PATIENCE_S = 60.0
BARE = ("shop", "ReplicaSet", "bare")


def pod(*, owned: bool) -> Any:
    made_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata: dict[str, Any] = {
        "name": "bare-x",
        "namespace": "shop",
        "uid": "u1",
        "creationTimestamp": made_at,
        "annotations": {str(names.MUTATION): written(Stamp("d", (LABEL,)))},
    }
    if owned:
        of = {"kind": "ReplicaSet", "name": "bare", "uid": "r", "controller": True}
        metadata["ownerReferences"] = [of]
    return {"metadata": metadata, "spec": {"containers": [{"name": "app"}]}}


async def test_a_pod_that_is_let_go_is_told_of_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with asyncio.timeout(PATIENCE_S), FakeKube() as kube, watched(kube, 0.05) as watching:
        found = None
        while found is None or not found.snapshot.items:
            # Those that are seen before the list is complete are no changes.
            kube.store.put(kinds.PODS, pod(owned=True))
            kube.store.put(kinds.PODS, pod(owned=False))
            found = await watching.other_than(() if found is None else (found.tag,))
        [told] = found.snapshot.items
    assert (told.namespace, told.owner_kind, told.owner) == BARE
    assert told.keys == ("team",)
    assert "pod_let_go" in [record.message for record in caplog.records]


async def test_a_workload_that_goes_is_forgotten() -> None:
    async with asyncio.timeout(PATIENCE_S), FakeKube() as kube:
        kube.store.put(kinds.DEPLOYMENTS, deployment(WITHOUT))
        async with watched(kube, PATIENCE_S) as watching:
            first = await watching.other_than(())
            assert first is not None
            assert len(first.snapshot.items) == 1
            kube.store.remove(kinds.DEPLOYMENTS, "shop", "web")
            found = await watching.other_than({first.tag})
            assert found is not None
            assert found.snapshot.items == ()
