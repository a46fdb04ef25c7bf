"""What Helm has rendered of the chart, fitted to the testbed: a post-renderer, and the values that go with it.

The values say what can be said by values; the rest, such as pods on the node's own network, no cluster but this needs.
"""

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from tests.e2e.first_light.manifests import REPOSITORY, TAG, Place, adapted
from tests.testbed.building import made
from tests.testbed.running.ports import LOOPBACK

Json = dict[str, Any]

LEFT = ("ConfigMap", "CustomResourceDefinition")
"""What the values alone decide."""


def values(place: Place) -> Json:
    """Of the chart: ports and addresses of *place*, and images that were built there. All else is the chart's own."""
    ports = place.ports
    brain = f"https://{LOOPBACK}:{ports['uplink']}"
    return {
        "images": {"agent": {"tag": TAG}, "controller": {"tag": TAG}},
        "kubeletRoot": str(place.kubelet_root),
        "brain": {"storage": {"enabled": False}},
        "extraEnv": [{"name": name, "value": each} for name, each in place.environment.items()],
        "settings": {
            "brain": {
                "uplink": f"0.0.0.0:{ports['uplink']}",
                "cluster_console": f"0.0.0.0:{ports['console']}",
                "server_names": LOOPBACK,
            },
            "admission": {"address": f"0.0.0.0:{ports['https']}", "brain": brain},
            "credentials": {"brain": brain},
            "observe": {"brain": brain},
        },
    }


def helm(folder: Path, place: Place) -> Path:
    """A `helm` that installs on the testbed what it is told to install."""
    given, told, fits, program = (
        folder / name for name in ("values.json", "place.json", "fits", "helm")
    )
    given.write_text(json.dumps(values(place)))
    # The variables are in the values, and would be there twice.
    told.write_text(json.dumps(asdict(place) | {"environment": {}}, default=str))
    _script(
        fits,
        f"cd {shlex.quote(str(REPOSITORY))}",
        f"exec {shlex.join([sys.executable, '-m', 'tests.drill.fitted_chart', str(told)])}",
    )
    helm = shlex.quote(str(made.helm()))
    fitted = shlex.join([f"--values={given}", f"--post-renderer={fits}"])
    _script(
        program,
        f'case $1 in install | upgrade) exec {helm} "$@" {fitted} ;; esac',
        f'exec {helm} "$@"',
    )
    return program


def _script(path: Path, *lines: str) -> None:
    path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    path.chmod(0o755)


def main() -> None:
    found = json.loads(Path(sys.argv[1]).read_text())
    paths = {name: Path(found[name]) for name in ("kubelet_root", "tree")}
    place = Place(**found | paths)
    documents = [each for each in yaml.safe_load_all(sys.stdin) if each is not None]
    fitted = [each if each["kind"] in LEFT else adapted(each, place) for each in documents]
    yaml.safe_dump_all(fitted, sys.stdout)


if __name__ == "__main__":
    main()
