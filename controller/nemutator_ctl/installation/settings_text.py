"""The settings of all processes of an installation, as the TOML that they read."""

import json
from collections.abc import Mapping
from typing import Any

from nemutator_ctl.installation.chart_values import at, merged

Json = dict[str, Any]

KUBELET = "/var/lib/kubelet"
EXTENDER = "0.0.0.0:8423"
VAULT_CA = "/etc/nemutator/vault-ca.crt"


def settings_of(
    shipped: Mapping[str, Any],
    values: Mapping[str, Any],
    *,
    init_image: str,
    ports: Mapping[str, int],
) -> Json:
    """The manifests' own settings, then what values say, then `settings` itself.

    *ports*: by process, where it serves metrics.
    """
    found = merged({}, shipped)
    credentials: Json = {"vault_address": at(values, "vault.address")}
    if at(values, "vault.ca"):
        credentials["vault_ca_file"] = VAULT_CA
    said: Json = {"credentials": credentials, "admission": {"init_image": init_image}}
    if at(values, "kubeletRoot") != KUBELET:
        said["mount"] = {"kubelet_root": at(values, "kubeletRoot")}
    if at(values, "scheduler.enabled"):
        said["brain"] = {"extender": EXTENDER}
    if at(values, "metrics.enabled"):
        address = at(values, "metrics.address")
        metrics = {role: {"metrics": f"{address}:{port}"} for role, port in ports.items()}
        said = merged(said, metrics)
    return merged(merged(found, said), at(values, "settings") or {})


def as_toml(settings: Mapping[str, Any]) -> str:
    """*settings*, a table for each process. What stands in none comes first, as TOML wants it."""
    lines = [_line(name, value) for name, value in settings.items() if not isinstance(value, dict)]
    for name, table in settings.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]", *(_line(each, value) for each, value in table.items())]
    return "\n".join(lines).lstrip("\n") + "\n"


def _line(name: str, value: Any) -> str:
    # Strings and numbers are written as JSON's, but for one character and halves of others.
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"{name} = {text}"
