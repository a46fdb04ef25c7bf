"""What kubelet runs in a container, asked as kubelet runs it: as a program."""

import asyncio
import contextlib
import os
import socket
import sys
from pathlib import Path

from nemutator_common import probe
from nemutator_common.addresses import UnixAddress
from nemutator_common.readiness import Readiness

from tests.contract.serving.test_operations_server import serving
from tests.fakes.listeners import PATIENCE_S
from tests.fakes.process import fake_process


async def probed(*arguments: str) -> tuple[int, str]:
    """The exit code, and all that it printed."""
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-IS", probe.__file__, *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE_S):
        shown, _ = await program.communicate()
    assert program.returncode is not None
    return program.returncode, shown.decode()


async def test_a_process_that_is_well_passes(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with serving(fake_process(), UnixAddress(path)):
        assert await probed("healthz", str(path)) == (0, "ok\n")
        assert await probed("readyz", str(path)) == (0, "ready\n")


async def test_one_that_is_not_ready_fails_and_says_why(tmp_path: Path) -> None:
    path, readiness = tmp_path / "s", Readiness()
    readiness.fail("uplink", "the brain does not answer")
    async with serving(fake_process(readiness=readiness), UnixAddress(path)):
        assert await probed("readyz", str(path)) == (1, "uplink: the brain does not answer\n")
        assert (await probed("healthz", str(path)))[0] == 0


async def test_where_nobody_listens_it_fails(tmp_path: Path) -> None:
    code, shown = await probed("healthz", str(tmp_path / "s"))
    assert code == 1
    assert "No such file or directory" in shown
    assert await probed("healthz") == (1, "usage: nemutator-probe healthz|readyz SOCKET\n")


def test_a_process_that_hangs_fails(tmp_path: Path) -> None:
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as hung:
        hung.bind(str(tmp_path / "s"))
        hung.listen()
        assert probe.ask("healthz", str(tmp_path / "s"), timeout_s=0.1) == (
            False,
            f"{tmp_path}/s: timed out",
        )


def test_it_can_be_run_as_a_program() -> None:
    assert os.access(probe.__file__, os.X_OK)
