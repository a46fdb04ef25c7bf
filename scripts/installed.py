"""Writes what `nemutator install` installs, of the same manifests as the chart: into the package of the command."""

import json
import sys
from pathlib import Path
from typing import Any

import yaml
from nemutator_common import __version__

from scripts.chart import CHART, CONTAINER_WHEN, DEPLOY, OPTIONAL, VOLUMES, condition
from scripts.chart_schema import schema

TARGET = (
    Path(__file__).parents[1] / "controller" / "nemutator_ctl" / "installation" / "shipped.json"
)
ORDER = ("namespace", "settings", "network", "brain", "agent", "admission", "webhooks")
"""Files of deploy/manifests, each after what it waits for."""


def render() -> str:
    paths = [DEPLOY / "manifests" / f"{name}.yaml" for name in ORDER]
    there = set((DEPLOY / "manifests").glob("*.yaml"))
    if there != set(paths):
        raise ValueError(f"when is {sorted(there ^ set(paths))} installed? ORDER has to say")
    found: dict[str, Any] = {
        "version": __version__,
        "documents": [
            {"when": condition(path.name, one["kind"], one["metadata"]["name"]), "document": one}
            for path in (*paths, *OPTIONAL)
            for one in yaml.safe_load_all(path.read_text())
        ],
        "definitions": [
            json.loads(path.read_text()) for path in sorted((DEPLOY / "crds").glob("*.json"))
        ],
        "containers": CONTAINER_WHEN,
        "volumes": VOLUMES,
        "values": yaml.safe_load((CHART / "values.yaml").read_text()),
        "schema": schema(),
        "alerts": yaml.safe_load((DEPLOY / "alerts" / "nemutator.yaml").read_text()),
        "dashboards": {
            path.name: path.read_text() for path in sorted((DEPLOY / "dashboards").glob("*.json"))
        },
    }
    return json.dumps(found, indent=1) + "\n"


def main() -> int:
    TARGET.write_text(render())
    return 0


if __name__ == "__main__":
    sys.exit(main())
