"""Settings of the process that mounts what pods get: the CSI driver."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nemutator_common import names
from nemutator_common.settings import ServesMetrics, setting

from nemutator_agent.settings.common_checks import absolute, absolute_or_empty, node

_DRIVER = re.compile(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?")


def _driver(value: str) -> str | None:
    # Of a CSIDriver: a DNS name of at most 63 characters, and it becomes the name of files.
    return None if _DRIVER.fullmatch(value) else f"expected a name like {names.CSI_DRIVER}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MountSettings(ServesMetrics):
    """`nemutator-agent mount`."""

    role: ClassVar[str] = names.MOUNT

    node: str = setting(
        "", "Name of this machine in the cluster; empty: its host name.", check=node
    )
    driver: str = setting(
        str(names.CSI_DRIVER), "Name of the CSI driver, as its CSIDriver has it.", check=_driver
    )
    kubelet_root: str = setting(
        "",
        "Kubelet's --root-dir, seen under the same path; empty: the first of the places of known "
        "distributions that has a kubelet's directory, `/var/lib/kubelet` before all.",
        check=absolute_or_empty,
    )
    plugin_dir: str = setting(
        "",
        "Where the driver's socket and the volumes are; empty: `plugins/DRIVER` in kubelet's root.",
        check=absolute_or_empty,
    )
    registry_dir: str = setting(
        "",
        "Where kubelet looks for drivers; empty: `plugins_registry` in kubelet's root.",
        check=absolute_or_empty,
    )
    credentials: Path = setting(
        Path("/run/nemutator-agent/credentials/credentials.sock"),
        "The private socket of the credentials process.",
        check=absolute,
    )

    @property
    def plugin_directory(self) -> Path:
        return Path(self.plugin_dir or f"{self.kubelet_root}/plugins/{self.driver}")

    @property
    def registry_directory(self) -> Path:
        return Path(self.registry_dir or f"{self.kubelet_root}/plugins_registry")
