"""Writes what an image is made of as a bill of materials (CycloneDX 1.6, JSON), from its lock and its Dockerfile.

It has no time in it: of one commit it is the same wherever it is made.
"""

import json
import re
import sys
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nemutator_common import __version__
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
IMAGES = ("agent", "controller")
PROJECT = "nemutator"
VENDORED = ROOT / "controller" / "nemutator_controller" / "console" / "static" / "vendor"

OF_IMAGES = {
    "sys_platform": "linux",
    "platform_system": "Linux",
    "os_name": "posix",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
    "python_version": "3.11",
    "python_full_version": "3.11.2",
    "platform_machine": "x86_64",
}
"""What the locks' conditions ask about, as Debian 12 answers it."""


@dataclass(frozen=True, slots=True)
class LockedPackage:
    name: str
    version: str
    hashes: tuple[str, ...]
    wanted_by: tuple[str, ...]
    """Other packages of the lock, and the project itself."""

    @property
    def url(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


@dataclass(slots=True)
class _Entry:
    requirement: Requirement
    hashes: list[str] = field(default_factory=list)
    wanted_by: list[str] = field(default_factory=list)


def locked(text: str) -> Iterator[LockedPackage]:
    """The packages of a lock, as far as they are for the images."""
    entries: list[_Entry] = []
    for line in text.splitlines():
        word = line.strip().removesuffix("\\").strip()
        if word.startswith("--hash=sha256:"):
            entries[-1].hashes.append(word.removeprefix("--hash=sha256:"))
        elif word.startswith("#"):
            wanted = word.removeprefix("#").removeprefix(" via").strip()
            if wanted:
                # Of the project itself: nemutator (pyproject.toml:agent).
                entries[-1].wanted_by.append(canonicalize_name(wanted.split()[0]))
        elif word:
            entries.append(_Entry(Requirement(word)))
    for entry in entries:
        needed = entry.requirement
        if needed.marker is not None and not needed.marker.evaluate(OF_IMAGES):
            continue
        (exact,) = needed.specifier
        yield LockedPackage(
            canonicalize_name(needed.name),
            exact.version,
            tuple(entry.hashes),
            tuple(entry.wanted_by),
        )


def debian_packages(dockerfile: str) -> list[str]:
    """What the last stage of a Dockerfile installs by name."""
    last = re.split(r"(?m)^FROM ", dockerfile)[-1]
    (line,) = re.findall(r"apt-get install --yes --no-install-recommends (.+?) \\\n", last)
    return sorted(line.split())


def vendored(folder: Path = VENDORED) -> dict[str, Any]:
    """What the page has of others: `scripts/vendored` fetched it."""
    (found,) = re.findall(r"\(v([0-9.]+)\)", (folder / "uPlot.iife.min.js").read_text()[:200])
    sums = [line.split() for line in (folder / "SHA256SUMS").read_text().splitlines()]
    url = f"pkg:npm/uplot@{found}"
    return {
        "type": "library",
        "bom-ref": url,
        "name": "uplot",
        "version": found,
        "purl": url,
        "licenses": [{"license": {"id": "MIT"}}],
        "properties": [{"name": f"nemutator:sha256 of {name}", "value": one} for one, name in sums],
    }


def bill(
    image: str, lock: str, dockerfile: str, *, version: str, more: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    packages = sorted(locked(lock), key=lambda each: each.name)
    root = f"pkg:oci/nemutator-{image}@{version}"
    components = [
        {
            "type": "library",
            "bom-ref": each.url,
            "name": each.name,
            "version": each.version,
            "purl": each.url,
            "properties": [
                {"name": "nemutator:locked-sha256", "value": one} for one in each.hashes
            ],
        }
        for each in packages
    ]
    for name in debian_packages(dockerfile):
        url = f"pkg:deb/debian/{name}?distro=bookworm"
        components.append({"type": "library", "bom-ref": url, "name": name, "purl": url})
    components.extend(more)
    wanted: dict[str, list[str]] = {each.url: [] for each in packages}
    by_name = {each.name: each.url for each in packages}
    direct = [each["bom-ref"] for each in more]
    for each in packages:
        for owner in each.wanted_by:
            if owner == PROJECT:
                direct.append(each.url)
            elif owner in by_name:
                wanted[by_name[owner]].append(each.url)
    made_of = root + lock + dockerfile + "".join(each["bom-ref"] for each in more)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, made_of)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "container",
                "bom-ref": root,
                "name": f"nemutator/{image}",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": root, "dependsOn": direct},
            *({"ref": owner, "dependsOn": urls} for owner, urls in sorted(wanted.items())),
        ],
    }


def main() -> int:
    target = ROOT / ".build" / "sbom"
    target.mkdir(parents=True, exist_ok=True)
    for image in IMAGES:
        lock = (ROOT / "requirements" / f"{image}.txt").read_text()
        dockerfile = (ROOT / f"Dockerfile.{image}").read_text()
        more = [vendored()] if image == "controller" else []
        found = bill(image, lock, dockerfile, version=__version__, more=more)
        path = target / f"{image}.cdx.json"
        path.write_text(json.dumps(found, indent=1) + "\n")
        sys.stdout.write(f"{path.relative_to(ROOT)}: {len(found['components'])} components\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
