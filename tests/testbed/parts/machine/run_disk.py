"""What one run brings to its machine: who may log in, our packages as a user installs them, tests."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.house.tree import REPOSITORY
from tests.testbed.building import commands, disks, guest_packages, made, unpacked

KEY = "key"
BROUGHT = "brought"
"""The folder of what this run alone brings."""


def make_key(folder: Path, environment: Mapping[str, str]) -> Path:
    """A key for this run alone, in *folder*."""
    key = folder / KEY
    _run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], folder, environment)
    return key


def make(
    folder: Path, key: Path, files: Mapping[str, Path], *, architecture: str, size_mb: int
) -> Path:
    """The disk, in *folder*: our packages in `site`, their tests in `source`, the sample service for
    a processor of that architecture, who may log in, and *files* by their names in BROUGHT."""
    content = folder / "run-disk"
    content.mkdir()
    content.chmod(0o755)
    (content / "authorized_keys").write_bytes(key.with_suffix(".pub").read_bytes())
    _install(content / "site", folder)
    for name in _tracked("tests", "bpf", "pyproject.toml"):
        path = content / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, path)
    shutil.copy2(_sample(architecture, folder), content / "shop")
    for name, given in files.items():
        _copy(given, content / BROUGHT / name)
    disk = folder / "run-disk.img"
    disks.make(content, disk, f"{size_mb}M", log=folder / "run-disk.log")
    shutil.rmtree(content)
    return disk


def _copy(given: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if given.is_dir():
        shutil.copytree(given, to, symlinks=True)
    else:
        shutil.copy2(given, to)


def _sample(architecture: str, folder: Path) -> Path:
    command: list[str | Path] = [REPOSITORY / "scripts/sample", "--path"]
    if architecture != made.this_machine().architecture:
        command.append(architecture)
    path = commands.read(command, log=folder / "run-disk.log", environment=os.environ)
    return REPOSITORY / path.strip()


def _install(site: Path, folder: Path) -> None:
    """Our wheel, made of this checkout, with commands for the Python that the machine has."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheels = folder / "wheels"
    _run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", wheels, REPOSITORY], folder)
    (wheel,) = wheels.glob("*.whl")
    _run([*pip, "install", "--no-deps", "--no-compile", "--target", site, wheel], folder)
    for command in (site / "bin").iterdir():
        first, _, rest = command.read_text().partition("\n")
        assert first.startswith("#!")
        command.write_text(f"#!/usr/bin/python3\n{rest}")
    if guest_packages.is_our_python((made.guest() / "python").read_text()):
        # The disk cannot be written to there, and an emulated CPU would compile at each start.
        _run([sys.executable, "-m", "compileall", "-q", "-s", site, site], folder)


def _tracked(*places: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *places],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    names = (name for name in listed.stdout.split("\0") if name)
    return [name for name in names if (REPOSITORY / name).is_file()]


def _run(
    command: list[str | Path], folder: Path, environment: Mapping[str, str] | None = None
) -> None:
    commands.run(
        command,
        log=folder / "run-disk.log",
        environment={"PATH": unpacked.SYSTEM, "HOME": str(folder), **(environment or {})},
    )
