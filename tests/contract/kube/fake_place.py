"""A namespace on a fake API server that the test has for itself."""

from dataclasses import dataclass
from pathlib import Path

from tests.contract.kube.places import user
from tests.fakes.kube import kinds
from tests.fakes.kube.server import FakeKube


@dataclass(frozen=True, slots=True)
class FakePlace:
    """*kube* can be disturbed in ways that no real server can be asked for."""

    kube: FakeKube
    namespace: str = "contract-fake"

    def __post_init__(self) -> None:
        name = self.namespace
        labels = {"kubernetes.io/metadata.name": name}
        self.kube.store.put(kinds.NAMESPACES, {"metadata": {"name": name, "labels": labels}})

    @property
    def url(self) -> str:
        return self.kube.url

    @property
    def ca_file(self) -> Path:
        return self.kube.ca_file

    @property
    def token(self) -> str:
        return self.kube.token

    async def somebody(self, name: str, *, verbs: str = "", resources: str = "") -> str:
        who = user(self, name)
        self.kube.access.allow(who, verbs, resources, namespace=self.namespace)
        return self.kube.access.add_token(who, "system:serviceaccounts")

    async def token_for(self, name: str, audience: str) -> str:
        return self.kube.access.add_token(
            user(self, name), "system:serviceaccounts", audiences=(audience,)
        )

    async def counted(self, budget: str) -> None:
        """Plays the disruption controller, for budgets that want a number of pods."""
        store = self.kube.store
        manifest = store.get(kinds.DISRUPTION_BUDGETS, self.namespace, budget)
        assert manifest is not None
        wanted = manifest["spec"]["selector"]["matchLabels"].items()
        pods = [
            pod
            for pod in store.all(kinds.PODS)
            if pod["metadata"]["namespace"] == self.namespace
            and wanted <= pod["metadata"].get("labels", {}).items()
        ]
        ready = {"type": "Ready", "status": "True"}
        healthy = sum(ready in pod["status"].get("conditions", []) for pod in pods)
        least = manifest["spec"]["minAvailable"]
        status = {
            "observedGeneration": manifest["metadata"]["generation"],
            "disruptionsAllowed": max(0, healthy - least),
            "desiredHealthy": least,
            "currentHealthy": healthy,
            "expectedPods": len(pods),
        }
        store.put(kinds.DISRUPTION_BUDGETS, {**manifest, "status": status})

    async def compact(self) -> None:
        self.kube.controls.compact()
