"""A brain's view of a fake cluster in which two pods are, one of whom asks for a profile."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from nemutator_common.secret import Secret
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock
from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.parts import add_tasks
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.profiles.records import PodRef
from nemutator_controller.registration.leaf_files import LeafFiles
from nemutator_controller.settings.brain import BrainSettings

from tests.fakes.kube import kinds
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

WEB = PodRef("shop", "web-1", "u1")


def pod(name: str, uid: str, **annotations: str) -> dict[str, Any]:
    requests = {"cpu": "250m", "memory": "64Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": uid,
            "annotations": {f"nemutator.io/{key}": value for key, value in annotations.items()},
        },
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "app", "image": "x", "resources": {"requests": requests}}],
        },
        "status": {"containerStatuses": [{"name": "app", "containerID": f"containerd://c-{uid}"}]},
    }


def outdated(name: str, uid: str, owner: str = "ReplicaSet", **status: Any) -> dict[str, Any]:
    """A pod that is to be evicted when its secrets have changed."""
    made = pod(name, uid, **{"on-rotate": "restart"})
    made["metadata"]["labels"] = {"app": "cart"}
    if owner:
        made["metadata"]["ownerReferences"] = [
            {
                "apiVersion": "apps/v1",
                "kind": owner,
                "name": "cart-5d9f",
                "uid": "r",
                "controller": True,
            }
        ]
    ready = [{"type": "Ready", "status": "True"}]
    made["status"] = {"phase": "Running", "conditions": ready, **status}
    return made


@contextlib.asynccontextmanager
async def watched(folder: Path) -> AsyncIterator[tuple[FakeKube, Cluster]]:
    async with FakeKube() as kube, contextlib.AsyncExitStack() as stack:
        kube.store.put(kinds.NAMESPACES, {"metadata": {"name": "nemutator"}})
        kube.store.put(kinds.NAMESPACES, {"metadata": {"name": "shop"}})
        kube.store.put(kinds.PODS, pod("web-1", "u1"))
        kube.store.put(kinds.PODS, pod("web-2", "u2", profile="cpu 30s"))
        access = Access(server=kube.url, ca=kube.ca_file.read_text(), token=Secret(kube.token))
        transport = await stack.enter_async_context(HttpTransport(Fixed(access), MemoryMeter()))
        stop, supervisor = asyncio.Event(), Supervisor()
        cluster = Cluster(
            BrainSettings(data_dir=folder),
            transport,
            LeafFiles(folder),
            fake_process(clock=SystemClock()),
        )
        add_tasks(supervisor, cluster.tasks())
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            group.create_task(supervisor.run(stop))
            for informer in (cluster.watch.pods, cluster.watch.replica_sets, cluster.watch.jobs):
                await informer.synced()
            await cluster.registrar.has_leaf.wait()
            yield kube, cluster
            stop.set()
