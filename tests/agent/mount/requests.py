"""Messages of kubelet, as it writes them."""

import json
from collections.abc import Mapping

from nemutator_agent.mount.protobuf import Message

from tests.fakes.mounting import UID, target_of

TOKENS = "csi.storage.k8s.io/serviceAccount.tokens"

CONTEXT = {
    "csi.storage.k8s.io/pod.name": "web-1",
    "csi.storage.k8s.io/pod.namespace": "shop",
    "csi.storage.k8s.io/pod.uid": UID,
    "csi.storage.k8s.io/serviceAccount.name": "web",
    "csi.storage.k8s.io/ephemeral": "true",
    "secret.db": "secret/app/db#password",
}


def tokens(token: object = "a.b.c") -> str:
    return json.dumps({"vault": {"token": token, "expirationTimestamp": "2026-01-01T00:00:00Z"}})


def add_map(message: Message, field: int, entries: Mapping[str, str]) -> None:
    """map<string, string>."""
    for key, value in entries.items():
        entry = Message()
        entry.text(1, key)
        entry.text(2, value)
        message.message(field, entry.encoded())


def publish_message(
    *,
    volume_id: str = "csi-1",
    target: str = "",
    context: Mapping[str, str] = CONTEXT,
    secrets: Mapping[str, str] | None = None,
    access_type: int = 2,
    mode: int = 1,
) -> bytes:
    access = Message()
    access.number(1, mode)
    capability = Message()
    capability.message(access_type, b"")
    capability.message(3, access.encoded())
    message = Message()
    message.text(1, volume_id)
    message.text(4, target or target_of())
    message.message(5, capability.encoded())
    message.number(6, 1)
    add_map(message, 7, {TOKENS: tokens()} if secrets is None else secrets)
    add_map(message, 8, context)
    return message.encoded()


def unpublish_message(*, volume_id: str = "csi-1", target: str = "") -> bytes:
    message = Message()
    message.text(1, volume_id)
    message.text(2, target or target_of())
    return message.encoded()
