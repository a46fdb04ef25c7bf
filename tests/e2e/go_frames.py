"""A Go program that says what its own runtime knows of its addresses, built in several ways."""

import os
import subprocess
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "golden" / "go" / "frames" / "main.go"

BUILDS = {
    "plain": [],
    "stripped": ["-ldflags=-s -w"],
    "position independent, stripped": ["-buildmode=pie", "-ldflags=-s -w"],
    "linked by gcc, stripped": ["-buildmode=pie", "-ldflags=-s -w -linkmode=external"],
}


def by_gcc(kind: str) -> bool:
    return "gcc" in kind


def build(go: str, kind: str, path: Path, *, architecture: str = "", source: Path = SOURCE) -> None:
    """For this machine's processor, or another one, as Go calls it."""
    inherited = {name: value for name, value in os.environ.items() if name != "GOROOT"}
    settings = {"GOTOOLCHAIN": "local", "GOFLAGS": "", "GOARCH": architecture}
    subprocess.run(
        [go, "build", *BUILDS[kind], "-o", path, source],
        env=inherited | settings | {"CGO_ENABLED": str(int(by_gcc(kind)))},
        cwd=path.parent,
        check=True,
        timeout=300,
    )
