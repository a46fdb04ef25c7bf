"""Which requests to Vault a pod may make through its socket: all else is refused before Vault is asked.

What an application does with secrets is let through, as the pod, whose policies decide. What would
make it somebody else, show it the token that the node holds, or change Vault itself, is not.
"""

from collections.abc import Collection
from enum import Enum

from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.vault.documents import RESERVED


class Purpose(Enum):
    """What a request is for, which decides how it is answered."""

    DATA = "data"
    """Of an engine: read, list, write, delete."""
    MOUNT = "mount"
    """Which engine a path belongs to, as `vault kv` asks before each command."""
    HEALTH = "health"
    CAPABILITIES = "capabilities"
    TOKEN = "token"  # noqa: S105 - a word
    """What the pod's token may do and how long it lasts; never the token."""
    LEASE = "lease"
    WRAPPING = "wrapping"


_GET, _WRITE = frozenset({"GET"}), frozenset({"POST", "PUT"})
_DATA_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
MOUNTS = "sys/internal/ui/mounts/"

_EXACT: dict[str, tuple[Purpose, Collection[str]]] = {
    "sys/health": (Purpose.HEALTH, _GET),
    "sys/capabilities-self": (Purpose.CAPABILITIES, _WRITE),
    "sys/leases/lookup": (Purpose.LEASE, _WRITE),
    "sys/leases/renew": (Purpose.LEASE, _WRITE),
    "sys/leases/revoke": (Purpose.LEASE, _WRITE),
    "sys/wrapping/lookup": (Purpose.WRAPPING, _WRITE),
    "sys/wrapping/unwrap": (Purpose.WRAPPING, _WRITE),
    "sys/wrapping/rewrap": (Purpose.WRAPPING, _WRITE),
    "auth/token/lookup-self": (Purpose.TOKEN, _GET),
    "auth/token/renew-self": (Purpose.TOKEN, _WRITE),
}


def purpose_of(method: str, path: str) -> Purpose:
    """What a request with this *method* for the decoded *path* is for; an `HttpRefusal` where the list
    does not have it."""
    if path in _EXACT:
        purpose, methods = _EXACT[path]
    elif path.startswith(MOUNTS):
        purpose, methods = Purpose.MOUNT, _GET
    elif path.partition("/")[0] in RESERVED:
        raise out_of_reach(path)
    else:
        purpose, methods = Purpose.DATA, _DATA_METHODS
    if method not in methods:
        raise HttpRefusal(
            405,
            f"{method[:20]} is not taken for {path}",
            remedy=f"it is asked with {' or '.join(sorted(methods))}"
            + (", a list with GET and ?list=true" if "GET" in methods else ""),
            step="method",
        )
    return purpose


def out_of_reach(path: str) -> HttpRefusal:
    return HttpRefusal(
        403,
        f"{path} is not served on the socket of a pod: the node logs in as this pod, keeps its token, "
        "and ends it",
        remedy="read and write secrets without a login; what changes Vault or makes tokens is asked "
        "of Vault itself, with a token of its own",
        step="allow list",
    )
