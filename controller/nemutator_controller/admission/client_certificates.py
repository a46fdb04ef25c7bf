"""The names in a client certificate, and whether one of them may call."""

from collections.abc import Mapping
from typing import Any

ALTERNATIVES = frozenset({"DNS", "URI", "IP Address"})


class ClientRefusedError(Exception):
    """The certificate names nobody who may call; says whom it names."""


def check_client(certificate: Mapping[str, Any] | None, allowed: frozenset[str]) -> None:
    """*certificate* as `ssl` describes one whose signature it has verified; no *allowed*: all."""
    if not allowed:
        return
    found = names_in(certificate or {})
    if allowed.isdisjoint(found):
        named = ", ".join(sorted(found)) or "nobody"
        raise ClientRefusedError(
            f"the client certificate is for {named}, and admission.client_names names others"
        )


def names_in(certificate: Mapping[str, Any]) -> frozenset[str]:
    """The common names of its subject, and its alternative names."""
    common = {
        value
        for relative_name in certificate.get("subject", ())
        for field, value in relative_name
        if field == "commonName"
    }
    alternatives = {
        value for kind, value in certificate.get("subjectAltName", ()) if kind in ALTERNATIVES
    }
    return frozenset(common | alternatives)
