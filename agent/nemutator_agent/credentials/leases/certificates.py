"""What an engine makes for a pod by a write, such as certificates, declared as `pki/issue/shop?common_name=…`."""

import json
from collections.abc import Mapping
from typing import Any

from nemutator_common.secret import Secret

from nemutator_agent.credentials.leases.ssh_certificates import validity
from nemutator_agent.credentials.leases.x509_certificates import lifetime_s
from nemutator_agent.credentials.vault.documents import EngineMount, GivenLease
from nemutator_agent.credentials.vault.exchanges import VaultExchange
from nemutator_agent.credentials.vault.failures import UnsupportedSecretError

_MADE: Mapping[str, tuple[str, ...]] = {
    "aws": ("creds/", "sts/"),
    "kubernetes": ("creds/",),
    "pki": ("issue/",),
    "ssh": ("issue/", "sign/"),
}
"""Where in an engine of each kind a write makes something that ends, and changes nothing else."""

_USED_UP = {
    "totp": "a code is good for some seconds",
    "ssh": "a one-time password is good for one login",
}
"""What is kept for longer than it is good, and would be given to several."""

_LONGEST_S = 10 * 366 * 24 * 3600.0

CHAIN = "chain"
"""The field that we add: the certificate and those of its authorities, one below the other."""


def is_issued(path: str) -> bool:
    """Whether what is declared as *path* is made by a write."""
    return "?" in path


def without_parameters(path: str) -> str:
    return path.partition("?")[0]


def check_engine(path: str, mount: EngineMount) -> None:
    """Raises an UnsupportedSecretError where what *mount* has at *path* is used up by its use, or where it makes
    nothing by a write that can be declared."""
    below = path.removeprefix(mount.path)
    if mount.kind == "totp" or (mount.kind == "ssh" and below.startswith("creds/")):
        raise UnsupportedSecretError(
            f"{mount.path} is of kind {mount.kind}: {_USED_UP[mount.kind]}; a program asks for each itself"
        )
    if is_issued(path) and not below.startswith(_MADE.get(mount.kind, ())):
        made = ", ".join(f"{kind} ({' '.join(places)})" for kind, places in _MADE.items())
        raise UnsupportedSecretError(
            f"{mount.path} is of kind {mount.kind}: parameters behind a ? are for engines of these kinds, and "
            f"there for these paths: {made}"
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
    """Until when a certificate is good that is issued without a lease; *now* is wall time.

    Where this node's clock is behind, it has no more time than between its own two dates.
    """
    ends, signed, certificate = (
        data.get(name) for name in ("expiration", "signed_key", "certificate")
    )
    lifetime: float | None = None
    if isinstance(signed, str):
        begins, ends = validity(signed) or (0, None)
        lifetime = None if ends is None else float(ends - begins)
    elif certificate is None:
        return None
    elif isinstance(certificate, str):
        lifetime = lifetime_s(certificate)
    if not isinstance(ends, int):
        return None
    if ends <= now:
        raise UnsupportedSecretError(
            "it ends before it begins by the clock of this node, which is ahead of Vault's"
        )
    lasts_s = min(ends - now, _LONGEST_S, _LONGEST_S if lifetime is None else lifetime)
    return GivenLease("", lasts_s, renewable=False)


def with_chain(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """*data* with the certificate and its chain as servers read them, where it has a certificate."""
    certificate, above = data.get("certificate"), data.get("ca_chain")
    if not isinstance(certificate, str):
        return data
    chain = [one for one in above if isinstance(one, str)] if isinstance(above, list) else []
    return {**data, CHAIN: "\n".join(one.strip("\n") for one in (certificate, *chain)) + "\n"}
