"""Further schedulers of a control plane, with a configuration of their own."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.testbed.building import made
from tests.testbed.parts.asking import is_well
from tests.testbed.parts.control_plane import READY_S, Cluster
from tests.testbed.parts.kubeconfigs import token_kubeconfig
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port


def begin(
    cluster: Cluster, name: str, configuration: Mapping[str, Any], *, token: str
) -> tuple[Daemon, int]:
    """Who asks with *token*, and where its metrics are; it schedules once it leads, which nobody waits for here."""
    kubeconfig = cluster.run.file(
        f"{name}.kubeconfig",
        token_kubeconfig(cluster.url, cluster.authority.certificate, token),
    )
    given = {**configuration, "clientConnection": {"kubeconfig": str(kubeconfig)}}
    port = free_port()
    daemon = cluster.run.daemon(
        name,
        [
            made.kube(), "kube-scheduler",
            f"--config={cluster.run.file(f'{name}.json', json.dumps(given))}",
            f"--bind-address={LOOPBACK}",
            f"--secure-port={port}",
            "--authentication-skip-lookup=true",
            "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
            "--v=2",
        ],
        ready=lambda: is_well(port, "/healthz", tls=True),
        within_s=READY_S,
    )  # fmt: skip
    return daemon, port


def trusting(configuration: dict[str, Any], url: str, ca_file: Path) -> dict[str, Any]:
    """*configuration* with its extenders at *url*."""
    for extender in configuration["extenders"]:
        extender["urlPrefix"] = url
        extender["tlsConfig"] = {"caFile": str(ca_file)}
    return configuration
