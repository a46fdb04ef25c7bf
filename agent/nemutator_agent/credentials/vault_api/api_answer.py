"""Answers in the shapes that clients of Vault know."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from nemutator_common.secret import Secret

from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.vault.documents import Document, EngineMount

Turn = Callable[[], Awaitable[None]]
"""Waits for a turn that lasts until the answer is sent. Only a few callers of a pod have one at a time, so
that no pod takes all threads from the others, and answers that nobody reads do not pile up."""

OK = 200
NOT_FOUND = 404

_OF_THE_TOKEN = ("id", "accessor")
"""Who has one of these has the token, or can end it."""


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    status: int
    body: Callable[[], Secret]
    """Makes it when its turn comes: those that wait for theirs share what it is made of. It is empty, or
    a JSON object."""
    size: int
    """In bytes, about."""
    retry_after_s: int | None = None

    @classmethod
    def of(cls, status: int, body: Secret, retry_after_s: int | None = None) -> Self:
        return cls(status, lambda: body, len(body.reveal()), retry_after_s)


def kv_answer(document: Document, mount: EngineMount, *, request_id: str) -> ApiAnswer:
    """What Vault answers to a read of *document*, which is read from memory."""

    def body() -> Secret:
        data = document.content.reveal()
        if mount.version == 2:
            metadata = dict(document.metadata) or {"version": document.version}
            data = f'{{"data":{data},"metadata":{json.dumps(metadata)}}}'
        envelope = json.dumps(_envelope(request_id) | {"mount_type": mount.kind})
        return Secret(f'{envelope.removesuffix("}")}, "data": {data}}}')

    return ApiAnswer(OK, body, document.size)


def leased_answer(document: Document, lasts_s: float, *, request_id: str) -> ApiAnswer:
    """What Vault answered to the read that has given *document*, which is good for *lasts_s* more."""
    lease = document.lease
    of_lease = {
        "lease_id": lease.id if lease else "",
        "lease_duration": int(lasts_s),
        "renewable": bool(lease and lease.renewable),
    }

    def body() -> Secret:
        envelope = json.dumps(_envelope(request_id) | of_lease)
        data = document.content.reveal()
        return Secret(f'{envelope.removesuffix("}")}, "data": {data}}}')

    return ApiAnswer(OK, body, document.size)


def mount_answer(mount: EngineMount, *, request_id: str) -> ApiAnswer:
    """Which engine a path belongs to, without the mount's own number and settings."""
    data = {
        "path": mount.path,
        "type": mount.kind,
        "options": {"version": str(mount.version)} if mount.version else None,
    }
    return _answer(_envelope(request_id) | {"data": data})


def token_answer(found: Mapping[str, Any], *, request_id: str) -> ApiAnswer:
    """What *found*, Vault's answer about the node's token, says of it."""
    return _answer(_envelope(request_id) | {"data": _without_token(found)})


def renewed_answer(found: Mapping[str, Any], *, request_id: str) -> ApiAnswer:
    """For a client that renews: the node does that, so this is how the token stands."""
    data = _without_token(found)
    auth = {
        "client_token": "",
        "accessor": "",
        "policies": data.get("policies"),
        "token_policies": data.get("policies"),
        "metadata": data.get("meta"),
        "lease_duration": data.get("ttl"),
        "renewable": data.get("renewable"),
        "entity_id": data.get("entity_id"),
        "token_type": data.get("type"),
        "orphan": data.get("orphan"),
    }
    return _answer(_envelope(request_id) | {"data": None, "auth": auth})


def refusal_answer(refusal: HttpRefusal) -> ApiAnswer:
    """In Vault's shape: of what is not there, it says nothing more."""
    words = [] if refusal.status == NOT_FOUND else [f"{refusal.error}; {refusal.remedy}"]
    body = Secret(json.dumps({"errors": words}))
    return ApiAnswer.of(refusal.status, body, refusal.retry_after_s)


def _without_token(found: Mapping[str, Any]) -> dict[str, Any]:
    data = found.get("data")
    known = data if isinstance(data, Mapping) else {}
    return {name: value for name, value in known.items() if name not in _OF_THE_TOKEN}


def _envelope(request_id: str) -> dict[str, Any]:
    return {
        "request_id": request_id,
        "lease_id": "",
        "renewable": False,
        "lease_duration": 0,
        "wrap_info": None,
        "warnings": None,
        "auth": None,
    }


def _answer(document: Mapping[str, Any]) -> ApiAnswer:
    return ApiAnswer.of(OK, Secret(json.dumps(document)))
