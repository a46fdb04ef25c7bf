"""The command as somebody in a shell runs it, against the fake server."""

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.kube import kinds
from tests.fakes.kube.server import FakeKube
from tests.hollow.__main__ import main
from tests.hollow.plan import LABEL

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0

pytestmark = pytest.mark.slow


@pytest.fixture
async def kube() -> AsyncIterator[FakeKube]:
    async with FakeKube() as kube:
        yield kube


@pytest.fixture
def kubeconfig(kube: FakeKube, tmp_path: Path) -> Path:
    cluster = {"server": kube.url, "certificate-authority": str(kube.ca_file)}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "fake",
        "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "admin"}}],
        "clusters": [{"name": "fake", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": kube.token}}],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(content))
    return path


@contextlib.asynccontextmanager
async def started(kubeconfig: Path, *more: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.hollow", "--nodes=2", "--pods=6", *more),
        cwd=ROOT,
        env={"KUBECONFIG": str(kubeconfig)},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def line_with(process: asyncio.subprocess.Process, text: str) -> str:
    assert process.stdout is not None
    async for line in process.stdout:
        if text in line.decode():
            return line.decode()
    raise AssertionError(f"it ended without saying {text!r}")


def labelled(kube: FakeKube) -> int:
    return sum(
        LABEL in manifest["metadata"].get("labels", {})
        for kind in kinds.BUILT_IN
        for manifest in kube.store.all(kind)
    )


async def test_it_populates_until_interrupted_and_leaves_nothing(
    kube: FakeKube, kubeconfig: Path
) -> None:
    async with started(kubeconfig, "--churn=50") as process:
        assert "create pods 6" in await line_with(process, "populated")
        assert len(kube.store.all(kinds.PODS)) == 6
        process.send_signal(signal.SIGINT)
        await line_with(process, "cleared")
        assert await process.wait() == 0
    assert labelled(kube) == 0


async def test_what_a_killed_one_left_is_cleared_by_another(
    kube: FakeKube, kubeconfig: Path
) -> None:
    async with started(kubeconfig) as process:
        await line_with(process, "populated")
        process.kill()
        await process.wait()
    assert labelled(kube) > 6
    async with started(kubeconfig, "--clear") as process:
        assert await process.wait() == 0
    assert labelled(kube) == 0


def test_numbers_that_make_no_fleet_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--nodes", "0"])
    assert ended.value.code == 2
    assert "a fleet has a node" in capsys.readouterr().err


def test_a_missing_kubeconfig_is_named_with_its_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--kubeconfig", str(tmp_path / "none")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"hollow: kubeconfig {tmp_path / 'none'}: there is no kubeconfig")
    assert "remedy: " in said
