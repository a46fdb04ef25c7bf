"""A namespace on the testbed's API server, which other tests use too."""

import contextlib
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from tests.contract.kube.places import user
from tests.contract.kube.waiting import PATIENCE_S, until
from tests.fakes.kube.conversation import Conversation
from tests.testbed.parts.control_plane import Cluster

RBAC = "/apis/rbac.authorization.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class RealPlace:
    cluster: Cluster
    namespace: str

    @property
    def url(self) -> str:
        return self.cluster.url

    @property
    def ca_file(self) -> Path:
        return self.cluster.ca_file

    @property
    def token(self) -> str:
        return self.cluster.admin_token

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}"

    async def somebody(self, name: str, *, verbs: str = "", resources: str = "") -> str:
        async with Conversation(self) as api:
            await api.create(f"{self.path}/serviceaccounts", {"metadata": {"name": name}})
            if verbs:
                await self._allow(api, name, verbs.split(), resources.split())
        return await self.token_for(name, "")

    async def token_for(self, name: str, audience: str) -> str:
        spec = {"audiences": [audience]} if audience else {}
        async with Conversation(self) as api:
            path = f"{self.path}/serviceaccounts/{name}/token"
            answer = await api.create(path, {"spec": spec})
        token: str = answer["status"]["token"]
        return token

    async def _allow(
        self, api: Conversation, name: str, verbs: list[str], resources: list[str]
    ) -> None:
        inside = f"{RBAC}/namespaces/{self.namespace}"
        rule = {"apiGroups": ["*"], "resources": resources, "verbs": verbs}
        await api.create(f"{inside}/roles", {"metadata": {"name": name}, "rules": [rule]})
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
        subject = {"kind": "ServiceAccount", "name": name, "namespace": self.namespace}
        binding = {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]}
        await api.create(f"{inside}/rolebindings", binding)

        async def allowed() -> bool:
            path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
            wish = {"namespace": self.namespace, "verb": verbs[-1], "resource": resources[-1]}
            spec = {"user": user(self, name), "resourceAttributes": wish}
            answer = await api.create(path, {"spec": spec})
            return bool(answer["status"]["allowed"])

        await until(allowed, f"{name} has been granted its role")

    async def counted(self, budget: str) -> None:
        path = f"/apis/policy/v1/namespaces/{self.namespace}/poddisruptionbudgets/{budget}"
        async with Conversation(self) as api:

            async def seen() -> bool:
                manifest = await api.get(path)
                status = manifest.get("status", {})
                labels = manifest["spec"]["selector"]["matchLabels"].items()
                selector = ",".join(f"{key}={value}" for key, value in labels)
                pods = (await api.get(f"{self.path}/pods", labelSelector=selector))["items"]
                ready = {"type": "Ready", "status": "True"}
                healthy = [
                    pod
                    for pod in pods
                    if any(ready.items() <= each.items() for each in pod["status"]["conditions"])
                ]
                counted = [status.get("observedGeneration"), status.get("currentHealthy")]
                return counted == [manifest["metadata"]["generation"], len(healthy)]

            await until(seen, f"the controller has counted the pods of {budget}")

    async def compact(self) -> None:
        etcd = self.cluster.etcd_url
        timeout = aiohttp.ClientTimeout(PATIENCE_S)
        async with aiohttp.ClientSession(etcd, timeout=timeout, raise_for_status=True) as session:
            async with session.post("/v3/maintenance/status", json={}) as response:
                revision = (await response.json())["header"]["revision"]
            async with session.post("/v3/kv/compaction", json={"revision": revision}):
                pass


@contextlib.asynccontextmanager
async def real_place(cluster: Cluster) -> AsyncIterator[RealPlace]:
    """A new namespace; at its end its pods go at once, and itself with the cluster.

    To delete a namespace costs the server more than to keep it: a list of every resource there is.
    """
    place = RealPlace(cluster, f"contract-{secrets.token_hex(4)}")
    async with Conversation(place) as api:
        await api.create("/api/v1/namespaces", {"metadata": {"name": place.namespace}})

        async def staffed() -> bool:
            code, _ = await api.ask("GET", f"{place.path}/serviceaccounts/default")
            return code == 200

        await until(staffed, "the namespace has its default service account")
    yield place
    async with Conversation(place) as api:
        await api.ask("DELETE", f"{place.path}/pods", {"gracePeriodSeconds": 0})
