"""What is lent to a pod, as Vault keeps it for the next run of this process: in the cubbyhole of the token that
it was read with, which no other token reads, and which ends with that token."""

import hashlib
import json

from nemutator_common.secret import Secret

from nemutator_agent.credentials.leases.leased_documents import LeasedDocument, RecoveredLease
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.exchanges import VaultAnswer, VaultExchange

FOLDER = "cubbyhole/nemutator"
LARGEST = 16 << 10
"""Characters: users and keys are much shorter."""


def keeping(path: str, leased: LeasedDocument) -> VaultExchange | None:
    """What has Vault keep what is lent at *path*; None of what is too large for that."""
    content = leased.document.content.reveal()
    if len(content) > LARGEST:
        return None
    # As text: Vault would sort its keys, and a pod would be told of a change that is none.
    body = Secret(json.dumps({"lease": leased.lease_id, "content": content}))
    return VaultExchange(method="PUT", path=_place(path), body=body)


def asking(path: str) -> VaultExchange:
    return VaultExchange(method="GET", path=_place(path))


def kept_document(answer: VaultAnswer, lease: RecoveredLease) -> Document | None:
    """What *lease* lends, where it is what Vault has kept. The pod may have written something else there."""
    data = answer.document.get("data")
    if answer.status >= 400 or not isinstance(data, dict) or data.get("lease") != lease.lease_id:
        return None
    content = data.get("content")
    if not isinstance(content, str) or len(content) > LARGEST:
        return None
    try:
        values = json.loads(content)
        is_object = isinstance(values, dict)
        return Document.of(values, None, lease=lease.holding.given) if is_object else None
    except (ValueError, RecursionError):
        return None


def _place(path: str) -> str:
    """A path of Vault may have characters that its cubbyholes do not take."""
    return f"{FOLDER}/{hashlib.sha256(path.encode()).hexdigest()[:32]}"
