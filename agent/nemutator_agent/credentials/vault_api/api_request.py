"""A request of a client of Vault, taken apart, and an `HttpRefusal` where it is not for this socket."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nemutator_common import names
from nemutator_common.secret import Secret

from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.vault_api.allow_list import Purpose, purpose_of
from nemutator_agent.credentials.vault_api.paths import decoded

MARK = "X-Vault-Request"
TOKEN = "X-Vault-Token"  # noqa: S105 - a header's name
NAMESPACE = "X-Vault-Namespace"
WRAP_TTL = "X-Vault-Wrap-TTL"
MERGE_PATCH = "application/merge-patch+json"

LARGEST_BODY = 64 << 10
LONGEST_QUERY = 2048
_WRAP_TTL = re.compile(r"[0-9]{1,9}(s|m|h|d)?([0-9]{1,4}[smh]){0,3}")


def is_for_vault(headers: Mapping[str, str]) -> bool:
    """Whether these are headers of a client of Vault. All of them send one, and callers of the native
    API none: a mount can be called as its paths are, and `secret/` is one in most installations."""
    return any(name.lower().startswith("x-vault-") for name in headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentRequest:
    """As it came from the client."""

    method: str
    target: str
    """Of the first line, with the query."""
    headers: Mapping[str, str]
    """By name in any case."""
    query: tuple[tuple[str, str], ...] = ()
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    method: str
    path: str
    purpose: Purpose
    query: tuple[tuple[str, str], ...] = ()
    body: Secret
    merge_patch: bool = False
    wrap_ttl: str = ""
    sent_token: Secret | None = None
    """What the client sent as its token. Only to unwrap it is looked at: no request is made with it."""

    @property
    def is_list(self) -> bool:
        return self.method == "GET" and ("list", "true") in self.query

    def document(self) -> Mapping[str, Any]:
        """The body as JSON; empty where there is none."""
        text = self.body.reveal()
        try:
            document = json.loads(text) if text else {}
        except (ValueError, RecursionError):
            document = text
        if document is None:
            # Go's client writes `null` where it has nothing to send.
            return {}
        if not isinstance(document, dict):
            raise HttpRefusal(
                400, "the body is no JSON object", remedy="send what Vault takes there", step="body"
            )
        return document


def parse(sent: SentRequest, *, namespace: str) -> ApiRequest:
    """What was *sent*, or an `HttpRefusal`; *namespace* is the one in which pods log in."""
    headers = sent.headers
    path = decoded(sent.target)
    purpose = purpose_of(sent.method, path)
    _check_namespace(headers.get(NAMESPACE, ""), namespace)
    if sum(len(name) + len(value) for name, value in sent.query) > LONGEST_QUERY:
        raise HttpRefusal(400, "the query is too long", remedy="send a shorter one", step="query")
    wrap_ttl = headers.get(WRAP_TTL, "")
    if wrap_ttl and purpose is not Purpose.DATA:
        raise HttpRefusal(
            400,
            f"the answer of {path} is not wrapped here",
            remedy=f"send {WRAP_TTL} with requests for secrets alone",
            step="wrapping",
        )
    if not _WRAP_TTL.fullmatch(wrap_ttl or "0"):
        raise HttpRefusal(
            400, f"{WRAP_TTL} is no duration", remedy="send one such as 60s or 5m", step="wrapping"
        )
    try:
        text = sent.body.decode()
    except UnicodeDecodeError:
        raise HttpRefusal(
            400, "the body is not UTF-8", remedy="send JSON, binary data as base64", step="body"
        ) from None
    token = headers.get(TOKEN)
    return ApiRequest(
        method=sent.method,
        path=path,
        purpose=purpose,
        query=sent.query,
        body=Secret(text),
        merge_patch=headers.get("Content-Type", "").partition(";")[0].strip() == MERGE_PATCH,
        wrap_ttl=wrap_ttl,
        sent_token=Secret(token) if token else None,
    )


def _check_namespace(asked: str, own: str) -> None:
    if asked and asked.strip("/") != own.strip("/"):
        raise HttpRefusal(
            403,
            "this pod is served in another namespace of Vault",
            remedy=f"leave {NAMESPACE} away (VAULT_NAMESPACE), or let the pod's "
            f"{names.VAULT_NAMESPACE} name that one",
            step="namespace",
        )
