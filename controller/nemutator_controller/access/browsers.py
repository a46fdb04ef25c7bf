"""Which requests of browsers are answered, by their headers, and what a browser may do with the answer."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from nemutator_common.addresses import TcpAddress

Distrust = Literal["host", "origin"]

HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
)
"""On every answer: the page shows names of strangers' processes, so nothing inline may run."""


def hosts_of(address: TcpAddress) -> frozenset[str]:
    """What `Host` may say. Any other name that leads here comes from a stranger's DNS (rebinding)."""
    own = str(address)
    names = {f"{host}:{address.port}" for host in ("localhost", "127.0.0.1", "[::1]")}
    return frozenset({own} | names)


def distrust(method: str, headers: Mapping[str, str], hosts: frozenset[str]) -> Distrust | None:
    """Why this request must not be answered, whatever cookie it carries; None: it may be."""
    host = headers.get("Host", "").lower()
    if host not in hosts:
        return "host"
    if method in {"GET", "HEAD"}:
        return None
    origin = headers.get("Origin")
    site = headers.get("Sec-Fetch-Site")
    if origin not in {None, f"http://{host}"} or site not in {None, "same-origin", "none"}:
        return "origin"
    return None


def is_foreign(method: str, headers: Mapping[str, str]) -> bool:
    """Whether the page of another site may have made a browser ask for a change, over TLS.

    There the certificate proves the host, so that only the origin has to be checked.
    """
    if method in {"GET", "HEAD"}:
        return False
    origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
    own = f"https://{headers.get('Host', '').lower()}"
    return origin not in {None, own} or site not in {None, "same-origin", "none"}


def is_prefetch(headers: Mapping[str, str]) -> bool:
    """Whether nobody has clicked yet: a browser's guess must not use up a one-time key."""
    return "prefetch" in headers.get("Sec-Purpose", headers.get("Purpose", ""))
