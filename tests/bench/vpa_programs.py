"""Programs of VPA's module, or of ours that use its packages, built once from the version in `vpa_go/go.mod`."""

import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
MODULE = "k8s.io/autoscaler/vertical-pod-autoscaler"
VERSION = "1.8.1"

_GO = Path("/usr/local/go/bin/go"), REPOSITORY / ".build/go/go/bin/go"


def built(package: str, name: str) -> Path:
    """*package* as the file *name*; where Go can fetch no modules, an error says so."""
    target = REPOSITORY / ".build" / name
    if not target.exists():
        go = next((path for path in _GO if path.exists()), "go")
        subprocess.run(
            [go, "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w",
             "-o", target, package],
            cwd=Path(__file__).parent / "vpa_go", check=True, timeout=1_800,
            env={**os.environ, "GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local",
                 "CGO_ENABLED": "0"},
        )  # fmt: skip
    return target
