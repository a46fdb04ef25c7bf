"""Kubeconfigs as the official package reads them, beside which our own reader is held."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Found:
    server: str = ""
    ca: str | None = None
    token: str | None = None
    client_certificate: str | None = None
    client_key: str | None = None
    server_name: str | None = None
    insecure: bool = False
    problem: str = ""


def read_by_package(path: Path) -> Found:
    """What it makes of the current context."""
    # A second and 60 MB, for those who ask it.
    from kubernetes.client import Configuration
    from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

    # The package only logs that a plugin failed, and goes on without credentials.
    complaints = _Complaints()
    logging.getLogger().addHandler(complaints)
    configuration: Any = Configuration()
    merge: Any = KubeConfigMerger  # untyped
    load: Any = KubeConfigLoader
    try:
        # Without a base, a relative path is relative to the file that it stands in.
        load(config_dict=merge(str(path)).config, config_base_path=None).load_and_set(configuration)
    finally:
        logging.getLogger().removeHandler(complaints)
    keys = configuration.api_key
    bearer = keys.get("BearerToken") or keys.get("authorization") or ""
    return Found(
        server=configuration.host.rstrip("/"),
        ca=_content(configuration.ssl_ca_cert),
        token=bearer.removeprefix("Bearer ") or None,
        client_certificate=_content(configuration.cert_file),
        client_key=_content(configuration.key_file),
        server_name=getattr(configuration, "tls_server_name", None),
        insecure=not configuration.verify_ssl,
        problem="; ".join(complaints.said),
    )


class _Complaints(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def _content(path: str | None) -> str | None:
    return Path(path).read_text() if path else None
