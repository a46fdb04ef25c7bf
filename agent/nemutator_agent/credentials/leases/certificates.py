"""Certificates that an engine of kind pki issues for a pod, declared as `pki/issue/shop?common_name=…`."""

import json
from collections.abc import Mapping
from typing import Any

from nemutator_common.secret import Secret

from nemutator_agent.credentials.vault.documents import EngineMount, GivenLease
from nemutator_agent.credentials.vault.exchanges import VaultExchange
from nemutator_agent.credentials.vault.failures import UnsupportedSecretError

KIND = "pki"
_ISSUE = "issue/"
CHAIN = "chain"
"""The field that we add: the certificate and those of its authorities, one below the other."""


def is_issued(path: str) -> bool:
    """Whether what is declared as *path* is made by a write."""
    return "?" in path


def without_parameters(path: str) -> str:
    return path.partition("?")[0]


def check_issued(path: str, mount: EngineMount) -> None:
    """Raises an UnsupportedSecretError where *mount* issues no certificates at *path*."""
    below = path.removeprefix(mount.path)
    if mount.kind != KIND or not below.startswith(_ISSUE):
        raise UnsupportedSecretError(
            f"{mount.path} is of kind {mount.kind}: parameters behind a ? are for {KIND} engines and "
            f"their {_ISSUE} alone"
        )


def asked(path: str) -> VaultExchange:
    """What Vault is asked for a secret that is declared as *path*."""
    where, _, parameters = path.partition("?")
    if not parameters:
        return VaultExchange(method="GET", path=where)
    # They are taken as they are written: a declaration holds no escapes.
    pairs = (pair.partition("=") for pair in parameters.split("&"))
    body = Secret(json.dumps({name: value for name, _, value in pairs}))
    return VaultExchange(method="POST", path=where, body=body)


def term_of(data: Mapping[str, Any], now: float) -> GivenLease | None:
    """Until when a certificate is good that is issued without a lease; *now* is wall time."""
    ends = data.get("expiration")
    if "certificate" not in data or not isinstance(ends, int) or ends <= now:
        return None
    return GivenLease("", ends - now, renewable=False)


def with_chain(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """*data* with the certificate and its chain as servers read them, where it has a certificate."""
    certificate, above = data.get("certificate"), data.get("ca_chain")
    if not isinstance(certificate, str):
        return data
    chain = [one for one in above if isinstance(one, str)] if isinstance(above, list) else []
    return {**data, CHAIN: "\n".join(one.strip("\n") for one in (certificate, *chain)) + "\n"}
