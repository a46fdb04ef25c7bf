"""Engines of the team that keep usage: where it is written to and read from."""

from dataclasses import dataclass

from nemutator_common.settings import between, setting

from nemutator_controller.prometheus_services import FIND
from nemutator_controller.setting_checks import (
    header,
    web_address,
    web_address_or,
    web_address_or_host,
)


@dataclass(frozen=True, kw_only=True)
class UsageEngineSettings:
    remote_write: str = setting(
        "",
        "Where each minute of history is sent by Prometheus remote write 1.0, like"
        " `https://prometheus:9090/api/v1/write` or `https://mimir/api/v1/push`; empty: nowhere.",
        check=web_address,
    )
    remote_write_token_file: str = setting(
        "", "File with the bearer token that it asks for; read each minute."
    )
    remote_write_user: str = setting("", "User that it asks for, where it wants a password.")
    remote_write_password_file: str = setting(
        "", "File with the password of that user; read each minute."
    )
    remote_write_tenant: str = setting(
        "", "Tenant there (`X-Scope-OrgID`), where it has several.", check=header
    )
    remote_write_ca_file: str = setting(
        "", "PEM file with who signs its certificate; empty: the authorities of the system."
    )
    remote_write_certificate_file: str = setting(
        "", "PEM file with a certificate of ours, where it asks for one."
    )
    remote_write_key_file: str = setting("", "PEM file with the key of that certificate.")
    remote_write_cluster: str = setting(
        "",
        "Value of a label `cluster` of all series, where several clusters write there.",
        check=header,
    )
    prometheus: str = setting(
        "",
        "Prometheus that is asked for history which is older than the brain's own, and for what containers used"
        " before it began, like `https://prometheus:9090` or `https://mimir/prometheus`; `find`: one that is found"
        " among the cluster's Services; empty: none.",
        check=web_address_or(FIND),
    )
    prometheus_namespaces: str = setting(
        "monitoring,*-monitoring,*-monitoring-system,observability,prometheus*,thanos*,mimir*,victoria*,vm",
        "Where `find` looks for a Prometheus: globs with commas between. Who may make Services there can say what"
        " containers of the whole cluster used.",
    )
    prometheus_token_file: str = setting(
        "", "File with the bearer token that it asks for; read each minute."
    )
    prometheus_user: str = setting("", "User that it asks for, where it wants a password.")
    prometheus_password_file: str = setting(
        "", "File with the password of that user; read each minute."
    )
    prometheus_tenant: str = setting(
        "", "Tenant there (`X-Scope-OrgID`), where it has several.", check=header
    )
    prometheus_ca_file: str = setting(
        "", "PEM file with who signs its certificate; empty: the authorities of the system."
    )
    prometheus_certificate_file: str = setting(
        "", "PEM file with our certificate for it, where it asks for one."
    )
    prometheus_key_file: str = setting("", "PEM file with the key of that certificate.")
    prometheus_warm_days: int = setting(
        8,
        "Days of which a new brain learns from that Prometheus what containers used; 0: none.",
        check=between(0, 14),
    )
    prometheus_usage: bool = setting(
        False,
        "Learn from that Prometheus what containers use, of those that no agent reports.",
    )
    datadog: str = setting(
        "",
        "Datadog that is asked for what containers used before the brain began: its site, like `datadoghq.eu`, or an"
        " address; empty: none.",
        check=web_address_or_host,
    )
    datadog_api_key_file: str = setting("", "File with the API key for it; read each minute.")
    datadog_application_key_file: str = setting(
        "",
        "File with the application key for it, which needs the right `timeseries_query` alone; read each minute.",
    )
    datadog_cluster: str = setting(
        "",
        "What this cluster is called there (the tag `kube_cluster_name`); empty: all that it knows is of this one.",
        check=header,
    )
    datadog_warm_days: int = setting(
        8,
        "Days of which a new brain learns from Datadog what containers used; 0: none.",
        check=between(0, 14),
    )
    datadog_usage: bool = setting(
        False, "Learn from Datadog what containers use, of those that no agent reports."
    )
