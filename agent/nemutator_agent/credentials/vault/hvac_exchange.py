"""What a pod's own client asks of Vault, sent on through hvac, with the answer as Vault wrote it."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from hvac import adapters, exceptions  # type: ignore[import-untyped]
from nemutator_common.secret import Secret

from nemutator_agent.credentials.vault.exchanges import VaultAnswer, VaultExchange
from nemutator_agent.credentials.vault.failures import (
    UnsupportedSecretError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.hvac_failures import (
    NOT_OF_VAULT,
    is_gone,
    of_a_pod,
    outage_of,
)

LARGEST_ANSWER = 320 << 10
"""The largest document with what Vault writes around it."""

HEALTH = "sys/health"
"""Its statuses above 400 say how Vault is, and are no failures."""

_OUTAGES = frozenset({502, 503, 504})
"""Not 429 and 500: an engine answers so to one pod, and another may be served well."""

_OF_VAULT = frozenset({"request_id", "errors", "data", "initialized"})
"""One of these is in each document of Vault's."""


def exchanged(client: Any, asked: VaultExchange) -> VaultAnswer:
    return of_a_pod(lambda: _exchanged(client, asked), most=LARGEST_ANSWER)


def _exchanged(client: Any, asked: VaultExchange) -> VaultAnswer:
    """Vault's answer, in the thread that calls; raises what hvac and requests raise for an outage and
    for a token that is gone."""
    headers = {}
    body = asked.body.reveal()
    if body:
        headers["Content-Type"] = (
            "application/merge-patch+json" if asked.merge_patch else "application/json"
        )
    response = adapters.RawAdapter.request(
        client.adapter,
        asked.method,
        f"/v1/{quote(asked.path)}",
        headers=headers,
        raise_exception=False,
        params=list(asked.query),
        data=body.encode() or None,
        wrap_ttl=asked.wrap_ttl or None,
        # Every answer as it is, those of 500 and 429 too.
        stream=True,
    )
    status, content = response.status_code, response.content
    if status == HTTPStatus.NO_CONTENT:
        return VaultAnswer(status=status, body=Secret(""), document={})
    if len(content) > LARGEST_ANSWER:
        raise UnsupportedSecretError(f"it is larger than {LARGEST_ANSWER >> 10} KiB")
    document = None if response.is_redirect else _document(content)
    if status in _OUTAGES and (document is None or asked.path != HEALTH):
        outage = outage_of(status, response.headers, content)
        if outage is not None:
            raise outage
    if document is None:
        raise VaultUnavailableError("malformed", NOT_OF_VAULT)
    if status == HTTPStatus.FORBIDDEN:
        refused = exceptions.Forbidden(None, errors=document.get("errors"), json=document)
        if is_gone(refused):
            raise refused
    return VaultAnswer(status=status, body=Secret(content.decode()), document=document)


def _document(content: bytes) -> Mapping[str, Any] | None:
    """None for what is not one of Vault's."""
    try:
        document = json.loads(content.decode())
    except ValueError:
        return None
    if not isinstance(document, Mapping):
        return None
    errors = document.get("errors", [])
    are_words = isinstance(errors, list) and all(isinstance(error, str) for error in errors)
    return document if are_words and _OF_VAULT & set(document) else None
