"""The settings of admission."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nemutator_common import names
from nemutator_common.settings import between, setting
from nemutator_common.shipping.settings import CallsBrain

from nemutator_controller.setting_checks import listening
from nemutator_controller.settings.lists import separated


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionSettings(CallsBrain):
    """The settings of `nemutator-controller admission`."""

    role: ClassVar[str] = names.ADMISSION

    address: str = setting(
        "127.0.0.1:8443",
        "Address for the API server, over TLS; in a pod `0.0.0.0:8443`.",
        check=listening,
    )
    tls_certificate: Path = setting(
        Path("/var/run/nemutator-tls/tls.crt"),
        "Certificate of the webhook, PEM; it is loaded again when the file changes.",
    )
    tls_key: Path = setting(
        Path("/var/run/nemutator-tls/tls.key"), "Private key of the webhook's certificate, PEM."
    )
    client_ca: str = setting(
        "",
        "PEM file with the authority of the API server's client certificate: only callers with a"
        " certificate of it get a connection. Empty: anybody who reaches the port may ask, and have"
        " forged decisions recorded.",
    )
    client_names: str = setting(
        "",
        "Common names, or DNS, URI or IP alternative names, with commas between: only callers whose"
        " certificate has one of them are answered. Empty: all with a certificate of `client_ca`.",
    )
    service_account: Path = setting(
        Path("/var/run/secrets/kubernetes.io/serviceaccount"),
        "Directory with the token and the CA of this pod's service account, as kubelet mounts it.",
    )
    namespace: str = setting(
        "nemutator", "Namespace in which nemutator itself runs: its pods are never changed."
    )
    init_image: str = setting(
        "", "Image of the agent, for the init container; empty: nothing is injected."
    )
    writer: str = setting(
        "", "Name under which decisions are sent to the brain; empty: the host name."
    )
    strict: bool = setting(
        False, "Respond only when the record of a change is on the disk, not just in its cache."
    )
    siblings: str = setting(
        "",
        "Directory in which the processes that share `address` tell each other of pods that are being made;"
        " with it several may listen there, to use several cores. Each has its own data directory. Empty: one"
        " process alone.",
    )
    spool_bytes: int = setting(
        64 << 20,
        "Most bytes of decisions that wait for the brain; with more, pods are left unchanged.",
        check=between(1 << 20, 1 << 34),
    )

    @property
    def allowed_clients(self) -> frozenset[str]:
        """The names in `client_names`; empty: all."""
        return frozenset(separated(self.client_names))
