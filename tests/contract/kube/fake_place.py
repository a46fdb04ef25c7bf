"""A namespace on a fake API server that the test has for itself."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from tests.contract.kube.places import user
from tests.fakes.issuers import claims, token
from tests.fakes.kube import kinds
from tests.fakes.kube.authorization import OURS
from tests.fakes.kube.paths import SIGNER
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
        return self.kube.access.add_token(
            who, "system:serviceaccounts", token=self._signed(name, OURS)
        )

    async def token_for(self, name: str, audience: str) -> str:
        return self.kube.access.add_token(
            user(self, name),
            "system:serviceaccounts",
            token=self._signed(name, audience),
            audiences=(audience,),
        )

    def _signed(self, name: str, audience: str) -> str:
        """Signed with the key that the server publishes."""
        said = claims(sub=user(self, name), aud=[audience], jti=secrets.token_hex())
        return token(SIGNER.keys[0], said)

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
