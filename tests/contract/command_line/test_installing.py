"""`nemutator install` and `uninstall` as processes: what they print without a cluster, and against the fake API server."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from nemutator_common.errors import ExitCode

from tests.fakes.installations import InstalledCluster, documents
from tests.fakes.kube import kinds
from tests.fakes.kube.server import FakeKube

pytestmark = pytest.mark.slow

Ran = subprocess.CompletedProcess[str]


def nemutator(*words: str | Path, given: str | None = None) -> Ran:
    return subprocess.run(
        [sys.executable, "-m", "nemutator_ctl", *words],
        env={"PATH": os.defpath, "HOME": "/nonexistent"},
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_dry_run_prints_manifests_that_kubectl_applies_and_needs_no_cluster() -> None:
    ran = nemutator("install", "--dry-run", "--set", "admission.replicas=3")
    assert ran.returncode == ExitCode.OK, ran.stderr
    assert list(yaml.safe_load_all(ran.stdout)) == documents(admission={"replicas": 3})


def test_values_come_from_files_and_words_and_the_last_one_wins() -> None:
    file = "admission: {replicas: 3}\ncredentials: {enabled: false}\n"
    ran = nemutator(
        *("install", "--dry-run=client", "-o", "json", "-f", "-"),
        *("--set", "admission.replicas=4"),
        given=file,
    )
    assert json.loads(ran.stdout)["items"] == documents(
        admission={"replicas": 4}, credentials={"enabled": False}
    ), ran.stderr


def test_a_value_that_nothing_reads_is_refused_before_any_cluster_is_asked() -> None:
    ran = nemutator("install", "--set", "credential.enabled=false")
    assert ran.returncode == ExitCode.USAGE
    assert "did you mean credentials?" in ran.stderr
    assert ran.stdout == ""


async def test_a_cluster_is_installed_into_and_left(tmp_path: Path) -> None:
    async with FakeKube() as kube:
        cluster = InstalledCluster(kube, tmp_path)
        where = ("--kubeconfig", cluster.kubeconfig)
        ran = await asyncio.to_thread(nemutator, *where, "install", "--no-wait")
        assert ran.returncode == ExitCode.OK, ran.stderr
        assert ran.stdout.splitlines()[0] == "namespace/nemutator created"
        assert cluster.names(kinds.DAEMON_SETS) == {"nemutator-agent"}

        again = await asyncio.to_thread(nemutator, *where, "install", "--no-wait", "-o", "name")
        assert again.stdout.split() == [each.split()[0] for each in ran.stdout.splitlines()]

        gone = await asyncio.to_thread(nemutator, *where, "uninstall", "--timeout", "60s")
        assert gone.returncode == ExitCode.OK, gone.stderr
        assert "kept: the definitions" in gone.stderr
        assert not cluster.names(kinds.DAEMON_SETS)
