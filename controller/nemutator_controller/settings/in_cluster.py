"""The brain as a part of a cluster."""

from dataclasses import dataclass
from pathlib import Path

from nemutator_common.settings import setting

from nemutator_controller.setting_checks import dns_label, host_names, listening
from nemutator_controller.settings.lists import separated


@dataclass(frozen=True, kw_only=True)
class ClusterSettings:
    cluster: bool = setting(
        False,
        "Run in a pod of a Kubernetes cluster: agents and people call over TLS, and the API server"
        " says who they are and what they may do.",
    )
    namespace: str = setting(
        "nemutator", "Namespace of this installation in a cluster.", check=dns_label
    )
    uplink: str = setting(
        "0.0.0.0:8421",
        "Address for agents and admission in a cluster, over TLS with a certificate of our own.",
        check=listening,
    )
    cluster_console: str = setting(
        "0.0.0.0:8420", "Address of the console in a cluster, over TLS.", check=listening
    )
    server_names: str = setting(
        "localhost",
        "Further names and addresses that the brain's certificate is for, with commas between: "
        "`localhost` is for `kubectl port-forward`.",
        check=host_names,
    )
    agent_account: str = setting(
        "nemutator-agent", "Service account of the agents, in the same namespace.", check=dns_label
    )
    admission_account: str = setting(
        "nemutator-admission",
        "Service account of admission, in the same namespace.",
        check=dns_label,
    )
    service_account: Path = setting(
        Path("/var/run/secrets/kubernetes.io/serviceaccount"),
        "Directory with the token and the CA of this pod's service account, in a cluster.",
    )

    @property
    def further_names(self) -> tuple[str, ...]:
        """The names in `server_names`."""
        return separated(self.server_names)
