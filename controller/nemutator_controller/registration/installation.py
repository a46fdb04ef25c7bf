"""Our Secrets, our ConfigMap and our webhook configuration, over Kubernetes' API."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from nemutator_common.secret import Secret

from nemutator_controller.kube.failures import NotFoundError
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import MUTATING_WEBHOOKS, Resource
from nemutator_controller.kube.writing import Writer
from nemutator_controller.registration.certificates import Pair

PUBLISHED = "nemutator-ca"
WEBHOOKS = "nemutator"
OVERSELL_WEBHOOKS = "nemutator-oversell"
"""That of deploy/oversell, which is not always installed."""
AUDIT_KEYS = "nemutator-audit-key"
_KEYS = "keys"
"""The name of their text in that Secret, and of the file that agents read."""

SECRETS: Final = Resource("", "v1", "secrets", "Secret", Object)
CONFIG_MAPS: Final = Resource("", "v1", "configmaps", "ConfigMap", Object)


@dataclass(frozen=True, slots=True)
class KubeInstallation:
    """An `Installation`. Secrets are created or replaced whole, by name and never listed."""

    reader: Reader
    writer: Writer
    namespace: str
    new_key: Callable[[], str]
    """Random, and different each time."""

    async def pair(self, name: str) -> Pair | None:
        found = await self._get(SECRETS, name)
        data = (found or {}).get("data") or {}
        if "tls.crt" not in data or "tls.key" not in data:
            return None
        try:
            return Pair(_text(data["tls.crt"]), Secret(_text(data["tls.key"])))
        except (ValueError, TypeError):
            return None

    async def save_pair(self, name: str, pair: Pair) -> None:
        data = {"tls.crt": _encoded(pair.certificate), "tls.key": _encoded(pair.key.reveal())}
        if await self._get(SECRETS, name) is None:
            manifest = {"metadata": {"name": name}, "type": "kubernetes.io/tls", "data": data}
            await self.writer.create(SECRETS, self.namespace, manifest)
        else:
            await self.writer.merge_patch(SECRETS, self.namespace, name, {"data": data})

    async def audit_keys(self) -> bytes | None:
        found = await self._get(SECRETS, AUDIT_KEYS)
        if found is None:
            return None
        # What somebody has spoilt is no reason to make another key: the records have the old one.
        return base64.b64decode((found.get("data") or {}).get(_KEYS) or "")

    async def make_audit_key(self) -> bytes:
        key = self.new_key()
        data = {_KEYS: _encoded(key)}
        manifest = {"metadata": {"name": AUDIT_KEYS}, "type": "Opaque", "data": data}
        await self.writer.create(SECRETS, self.namespace, manifest)
        return key.encode()

    async def publish(self, authority: str) -> None:
        wanted = {"ca.crt": authority}
        found = await self._get(CONFIG_MAPS, PUBLISHED)
        if found is None:
            manifest = {"metadata": {"name": PUBLISHED}, "data": wanted}
            await self.writer.create(CONFIG_MAPS, self.namespace, manifest)
        elif (found.get("data") or {}).get("ca.crt") != authority:
            await self.writer.merge_patch(CONFIG_MAPS, self.namespace, PUBLISHED, {"data": wanted})

    async def webhooks(self, name: str) -> Mapping[str, Any] | None:
        return await self._get(MUTATING_WEBHOOKS, name)

    async def patch_webhooks(self, name: str, operations: Sequence[Mapping[str, Any]]) -> None:
        await self.writer.json_patch(MUTATING_WEBHOOKS, "", name, operations)

    async def _get(self, resource: Resource[Any], name: str) -> dict[str, Any] | None:
        namespace = self.namespace if resource.namespaced else ""
        try:
            body = await self.reader.raw(resource, namespace, name)
        except NotFoundError:
            return None
        found: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any])
        return found


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _text(encoded: str) -> str:
    return base64.b64decode(encoded, validate=True).decode()
