"""A cluster's brain by a kubeconfig: through the API server, which can read nothing of it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode

from tests.certificates import Authority
from tests.fakes.forwarding import ACCOUNT, PERSON, ForwardingCluster, forwarding

Ran = subprocess.CompletedProcess[str]


@pytest.fixture
async def cluster() -> AsyncIterator[ForwardingCluster]:
    async with forwarding(ForwardingCluster()) as running:
        yield running


async def nemutator(*words: str | Path, module: str = "nemutator_ctl", **environment: str) -> Ran:
    def run() -> Ran:
        return subprocess.run(
            [sys.executable, "-m", module, *words],
            env={"PATH": os.defpath, "HOME": "/nonexistent", **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return await asyncio.to_thread(run)


async def test_who_a_kubeconfig_names_asks_the_brain(
    cluster: ForwardingCluster, tmp_path: Path
) -> None:
    kubeconfig = cluster.kubeconfig(tmp_path)
    ran = await nemutator("--kubeconfig", kubeconfig, "mutations", "-n", "shop", "-o", "name")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "m-1\nm-2\n"
    assert ran.stderr == ""
    assert cluster.seen == [("/api/v1/mutations?limit=50&namespace=shop", f"Bearer {PERSON}")]


async def test_a_context_is_found_where_kubectl_looks(
    cluster: ForwardingCluster, tmp_path: Path
) -> None:
    kubeconfig = str(cluster.kubeconfig(tmp_path))
    ran = await nemutator("mutations", "--context=here", "-o", "name", KUBECONFIG=kubeconfig)
    assert ran.stdout == "m-1\nm-2\n", ran.stderr
    ran = await nemutator("mutations", "--context=nowhere", KUBECONFIG=kubeconfig)
    assert ran.returncode == ExitCode.USAGE
    assert "nowhere" in ran.stderr


async def test_as_a_plugin_of_kubectl_it_asks_the_current_cluster(
    cluster: ForwardingCluster, tmp_path: Path
) -> None:
    start = (
        "import sys; from nemutator_ctl.__main__ import kubectl_plugin; sys.exit(kubectl_plugin())"
    )

    def run() -> Ran:
        return subprocess.run(
            [sys.executable, "-c", start, "mutations", "-o", "name"],
            env={"PATH": os.defpath, "KUBECONFIG": str(cluster.kubeconfig(tmp_path))},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    ran = await asyncio.to_thread(run)
    assert ran.stdout == "m-1\nm-2\n", ran.stderr


async def test_without_a_token_a_service_account_lends_its(
    cluster: ForwardingCluster, tmp_path: Path
) -> None:
    # A certificate in place of a token; this server asks for a header, so a password stands there.
    kubeconfig = cluster.kubeconfig(tmp_path, username="me", password="x")
    ran = await nemutator("--kubeconfig", kubeconfig, "mutations")
    assert ran.returncode == ExitCode.USAGE
    assert "--as-account" in ran.stderr
    ran = await nemutator(
        "--kubeconfig", kubeconfig, "--as-account", "nemutator/anna", "mutations", "-o", "name"
    )
    assert ran.stdout == "m-1\nm-2\n", ran.stderr
    assert cluster.seen[-1][1] == f"Bearer {ACCOUNT}"


async def test_a_brain_that_is_another_gets_no_token(
    cluster: ForwardingCluster, tmp_path: Path
) -> None:
    cluster.published = Authority("somebody else").certificate
    ran = await nemutator("--kubeconfig", cluster.kubeconfig(tmp_path), "mutations")
    assert ran.returncode == ExitCode.UNREACHABLE
    assert "does not answer through the API server" in ran.stderr
    assert cluster.seen == []


async def test_what_is_not_allowed_says_so_and_what_to_do(
    cluster: ForwardingCluster, tmp_path: Path
) -> None:
    cluster.may_forward = False
    ran = await nemutator("--kubeconfig", cluster.kubeconfig(tmp_path), "mutations")
    assert ran.returncode == ExitCode.UNREACHABLE
    assert "does not let you forward port 8420 of pod nemutator-brain-0" in ran.stderr
    assert "remedy" in ran.stderr
    assert PERSON not in ran.stderr


async def test_a_brain_that_is_not_ready_is_said_to_be(
    cluster: ForwardingCluster, tmp_path: Path
) -> None:
    cluster.ready = False
    ran = await nemutator("--kubeconfig", cluster.kubeconfig(tmp_path), "mutations")
    assert ran.returncode == ExitCode.UNREACHABLE
    assert "no brain is ready" in ran.stderr


async def test_an_api_server_that_nobody_serves_is_named(tmp_path: Path) -> None:
    gone = ForwardingCluster(url="https://127.0.0.1:1")
    ran = await nemutator("--kubeconfig", gone.kubeconfig(tmp_path), "mutations")
    assert ran.returncode == ExitCode.UNREACHABLE
    assert "https://127.0.0.1:1 does not answer" in ran.stderr


@pytest.mark.parametrize("content", ["", "[]", "{", "a: b", "clusters: secret-word-7"])
async def test_a_file_that_is_no_kubeconfig_is_not_quoted(content: str, tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text(content)
    ran = await nemutator("--kubeconfig", tmp_path / "kubeconfig", "mutations")
    assert ran.returncode == ExitCode.USAGE, ran.stderr
    assert "secret-word-7" not in ran.stderr
    assert "Traceback" not in ran.stderr


async def test_what_is_named_on_the_command_line_wins(
    cluster: ForwardingCluster, tmp_path: Path
) -> None:
    kubeconfig = cluster.kubeconfig(tmp_path)
    ran = await nemutator(
        "mutations", f"--data-dir={tmp_path / 'none'}", NEMUTATOR_CTL_KUBECONFIG=str(kubeconfig)
    )
    assert "no nemutator runs on" in ran.stderr
    assert cluster.at_server == []
