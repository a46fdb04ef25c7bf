"""The settings of a process that calls the brain."""

from dataclasses import dataclass
from pathlib import Path

from nemutator_common.settings import ServesMetrics, between, setting
from nemutator_common.shipping.destinations import destination


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsBrain(ServesMetrics):
    brain: str = setting(
        "",
        "Where the brain is: `unix:/path` or `https://host:port`; empty: its socket in the data"
        " directory.",
        check=destination,
    )
    brain_token_file: Path = setting(
        Path("/var/run/nemutator-brain/token"),
        "Token of this pod's service account, for a brain at `https://…`; read again each minute.",
    )
    brain_ca_file: Path = setting(
        Path("/var/run/nemutator-brain/ca.crt"),
        "Who signs the certificate of a brain at `https://…`; read again each minute.",
    )
    call_s: float = setting(
        10.0, "Deadline of one call to the brain, in seconds.", check=between(0.1, 60)
    )
