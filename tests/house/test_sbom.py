"""The bills of materials name what the images are made of, and how images are built."""

import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.sbom import IMAGES, bill, debian_packages, locked, vendored
from tests.house.tree import REPOSITORY

LOCK = """\
hvac==2.4.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via nemutator (pyproject.toml:agent)
requests==2.34.2 \\
    --hash=sha256:cc
    # via
    #   -c requirements/run.txt
    #   hvac
tzdata==2026.6 ; sys_platform == 'win32' \\
    --hash=sha256:dd
    # via requests
"""
DOCKERFILE = """\
FROM debian:bookworm-slim AS packages
RUN apt-get update \\
    && apt-get install --yes --no-install-recommends python3-venv \\
    && rm -rf /var/lib/apt/lists/*
FROM debian:bookworm-slim
RUN apt-get update \\
    && apt-get install --yes --no-install-recommends python3 libbpf1 \\
    && rm -rf /var/lib/apt/lists/*
"""


def test_it_has_the_packages_of_linux_and_who_wants_them() -> None:
    found = bill("agent", LOCK, DOCKERFILE, version="1.2")
    assert [(each["name"], each.get("version")) for each in found["components"]] == [
        ("hvac", "2.4.0"),
        ("requests", "2.34.2"),
        ("libbpf1", None),
        ("python3", None),
    ]
    assert found["dependencies"] == [
        {"ref": "pkg:oci/nemutator-agent@1.2", "dependsOn": ["pkg:pypi/hvac@2.4.0"]},
        {"ref": "pkg:pypi/hvac@2.4.0", "dependsOn": ["pkg:pypi/requests@2.34.2"]},
        {"ref": "pkg:pypi/requests@2.34.2", "dependsOn": []},
    ]
    hashes = [each["value"] for each in found["components"][0]["properties"]]
    assert hashes == ["aa", "bb"]


def test_of_one_commit_it_is_always_the_same_and_of_another_lock_another() -> None:
    made = bill("agent", LOCK, DOCKERFILE, version="1.2")
    assert made == bill("agent", LOCK, DOCKERFILE, version="1.2")
    other = bill("agent", LOCK.replace("2.4.0", "2.4.1"), DOCKERFILE, version="1.2")
    assert made["serialNumber"] != other["serialNumber"]


def test_what_the_page_has_of_others_is_named_too() -> None:
    found = bill("controller", LOCK, DOCKERFILE, version="1.2", more=[vendored()])
    assert found["components"][-1]["licenses"] == [{"license": {"id": "MIT"}}]
    assert found["components"][-1]["bom-ref"] in found["dependencies"][0]["dependsOn"]


@pytest.mark.parametrize("image", IMAGES)
def test_every_package_that_an_image_wants_is_in_its_lock(image: str) -> None:
    lock = (REPOSITORY / "requirements" / f"{image}.txt").read_text()
    project = (REPOSITORY / "pyproject.toml").read_text()
    extra = project.partition(f"\n{image} = [\n")[2].partition("\n]")[0]
    wanted = {
        canonicalize_name(Requirement(line.split('"')[1]).name) for line in extra.splitlines()
    }
    direct = {each.name for each in locked(lock) if "nemutator" in each.wanted_by}
    assert wanted <= direct
    assert "python3" in debian_packages((REPOSITORY / f"Dockerfile.{image}").read_text())


# --- `make images` ------------------------------------------------------------------------------
def images(path: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/bash", REPOSITORY / "scripts/images", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": f"{path}:/usr/bin:/bin", **environment},
    )


def engine(path: Path) -> None:
    path.write_text('#!/bin/sh\necho "${0##*/} $*" >>"${0%/*}/called"\n')
    path.chmod(0o755)


def test_images_are_built_by_the_engine_that_is_named_and_pushed_where_that_is_asked(
    tmp_path: Path,
) -> None:
    engine(tmp_path / "buildah")
    chosen = {"ENGINE": str(tmp_path / "buildah"), "PUSH": "yes", "SOURCE_DATE_EPOCH": "7"}
    ran = images(tmp_path, "registry.example/", **chosen)
    agent, controller = ran.stdout.splitlines()
    assert agent.startswith("registry.example/nemutator/agent:")
    assert (tmp_path / "called").read_text().splitlines() == [
        f"buildah build --file Dockerfile.agent --timestamp 7 --omit-history --build-arg TRACES= --tag {agent} .",
        f"buildah push {agent}",
        f"buildah build --file Dockerfile.controller --timestamp 7 --omit-history --build-arg TRACES= --tag {controller} .",
        f"buildah push {controller}",
    ]


def test_images_are_not_pushed_unless_that_is_asked(tmp_path: Path) -> None:
    engine(tmp_path / "docker")
    ran = images(tmp_path)
    assert ran.stdout.splitlines()[0].startswith("nemutator/agent:")
    assert "push" not in (tmp_path / "called").read_text()
