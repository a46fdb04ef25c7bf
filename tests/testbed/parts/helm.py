"""Helm, as people run it; its caches stay in a folder that is given."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.testbed.building import made

CALL_S = 240.0


class HelmError(Exception):
    """What helm said when it refused."""


@dataclass(frozen=True, slots=True)
class Helm:
    """*home*: where it keeps what it keeps; *kubeconfig*: of the cluster, where there is one."""

    home: Path
    kubeconfig: Path | None = None

    def run(self, *arguments: str | Path) -> str:
        """What it prints, its log included where that was asked for with `--debug`."""
        ran = subprocess.run(
            [made.helm(), *arguments],
            capture_output=True,
            text=True,
            timeout=CALL_S,
            check=False,
            env={
                "PATH": os.defpath,
                "HOME": str(self.home),
                "KUBECONFIG": str(self.kubeconfig or self.home / "none"),
            },
        )
        if ran.returncode != 0:
            raise HelmError(ran.stderr or ran.stdout)
        return ran.stdout + (ran.stderr if "--debug" in arguments else "")

    def template(self, chart: Path, *arguments: str | Path) -> list[dict[str, Any]]:
        """The objects that an installation of *chart* would make."""
        # What it only makes on its way out is left out.
        given = ("template", "nemutator", chart, "--namespace=nemutator", "--no-hooks", *arguments)
        return [each for each in yaml.safe_load_all(self.run(*given)) if each]
