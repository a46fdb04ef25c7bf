"""The settings of the brain."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nemutator_common import names
from nemutator_common.serving.addresses import TcpAddress, parse_address
from nemutator_common.settings import Shared, between, setting
from nemutator_common.shipping.settings import CallsBrain


def loopback(text: str) -> str | None:
    """A check: the console speaks plain HTTP, so its cookie may not leave this machine."""
    expected = "expected an address of this machine itself, like 127.0.0.1:8420"
    try:
        address = parse_address(text)
    except ValueError:
        return expected
    if isinstance(address, TcpAddress) and ipaddress.ip_address(address.host).is_loopback:
        return None
    return expected


def listening(text: str) -> str | None:
    """A check: an address to listen on."""
    try:
        parse_address(text)
    except ValueError as wrong:
        return str(wrong)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainSettings(Shared):
    role: ClassVar[str] = names.BRAIN

    console: str = setting(
        "127.0.0.1:8420",
        "Address of the console; port 0 is any free one. It is plain HTTP, so only loopback.",
        check=loopback,
    )
    stale_after_s: float = setting(
        15.0,
        "Seconds without a report after which a node is shown as stale.",
        check=between(1, 86_400),
    )
    most_nodes: int = setting(
        1_000, "Nodes that may report; the reports of more are refused.", check=between(1, 10_000)
    )
    history_s: float = setting(
        86_400.0, "Seconds of history that are kept.", check=between(600, 366 * 86_400)
    )
    history_points: int = setting(
        500_000,
        "Points of history that are kept, of all nodes together.",
        check=between(1_000, 100_000_000),
    )
    journal_s: float = setting(
        90 * 86_400.0,
        "Seconds that a mutation stays in the journal, and can be taken back by its id.",
        check=between(3_600, 3660 * 86_400),
    )
    journal_decisions: int = setting(
        100_000, "Mutations that the journal keeps.", check=between(100, 10_000_000)
    )
    database_bytes: int = setting(
        256 << 20,
        "Largest size of the database file; when it is reached the oldest history makes room.",
        check=between(1 << 20, 1 << 40),
    )
    sized_containers: int = setting(
        10_000,
        "Containers whose use is remembered for advice; then the one unheard of for longest goes.",
        check=between(1, 1_000_000),
    )
    profiles: int = setting(
        500, "Finished profiles that are kept; then the oldest go.", check=between(1, 100_000)
    )
    profile_bytes: int = setting(
        64 << 20,
        "Bytes that they may have in all, in the database; then the oldest go.",
        check=between(1 << 20, 1 << 40),
    )
    session_s: float = setting(
        43_200.0,
        "Seconds that a browser may use the console after it opened a link.",
        check=between(60, 30 * 86_400),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionSettings(CallsBrain):
    """`nemutator-controller admission`."""

    role: ClassVar[str] = names.ADMISSION

    address: str = setting(
        "127.0.0.1:8443",
        "Where the API server calls, over TLS; in a pod `0.0.0.0:8443`.",
        check=listening,
    )
    tls_certificate: Path = setting(
        Path("/var/run/nemutator-tls/tls.crt"),
        "Certificate of the webhook, PEM; taken over anew when the file changes.",
    )
    tls_key: Path = setting(
        Path("/var/run/nemutator-tls/tls.key"), "Private key of the webhook's certificate, PEM."
    )
    service_account: Path = setting(
        Path("/var/run/secrets/kubernetes.io/serviceaccount"),
        "Directory with token and CA for the API server, as kubelet mounts it.",
    )
    namespace: str = setting(
        "nemutator", "Namespace that nemutator itself runs in: its pods are never touched."
    )
    init_image: str = setting(
        "", "Image of the agent, for the init container; empty: nothing is injected."
    )
    writer: str = setting(
        "", "Name under which decisions are sent to the brain; empty: the host name."
    )
    strict: bool = setting(
        False, "Answer only when the record of a change is on the disk, not only in its cache."
    )
    spool_bytes: int = setting(
        64 << 20,
        "Most bytes of decisions that wait for the brain; then pods are left as they are.",
        check=between(1 << 20, 1 << 34),
    )
