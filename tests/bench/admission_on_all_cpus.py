"""Answers per second where everybody may use all CPUs, who asks as well: ours in one process, and in as many as there are CPUs on one
port; the peers with a thread for each."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from nemutator_common import names

from tests.bench import first_light_reviews as reviews
from tests.bench import vpa_peer
from tests.bench.first_light_admission import (
    VARIED,
    Figures,
    admission_started,
    ask,
    fill,
    twin_started,
    written_files,
)
from tests.bench.first_light_processes import EndedError
from tests.fakes.kube.server import FakeKube
from tests.testbed.running.waiting import NotInTimeError

CPUS = len(os.sched_getaffinity(0))
CONNECTIONS = 32
"""The kernel shares them out among the processes at random: of eight, all could go to one."""

LABELS, SIZED = VARIED["labels"], (reviews.SIZED, reviews.RANDOM)


def on_all_cpus(program: Path, policies: Mapping[str, Any]) -> tuple[Figures, Figures]:
    """Ours, and the peers'."""
    with tempfile.TemporaryDirectory(prefix="all-cpus-") as folder:
        return asyncio.run(_measured(program, Path(folder), policies))


async def _measured(
    program: Path, folder: Path, policies: Mapping[str, Any]
) -> tuple[Figures, Figures]:
    written_files(folder, (reviews.PLAIN, reviews.SIZED))
    ours: Figures = {"cpus": CPUS}
    theirs: Figures = {}
    async with FakeKube() as kube:
        await fill(kube, policies)
        for processes in sorted({1, CPUS}):
            ours[f"{processes} of ours"] = await _by_ours(program, folder, kube, processes)
    with twin_started(program, folder, cpu=None, threads=CPUS) as (url, _):
        theirs["the Go twin"] = {"labels": await _rate(program, folder, url, *LABELS)}
    try:
        async with vpa_peer.vpa_started(folder, cpu=None, threads=CPUS) as (url, _):
            found: Figures = {vpa_peer.CASE: await _rate(program, folder, url, *SIZED)}
    except (OSError, subprocess.SubprocessError, EndedError, NotInTimeError) as failed:
        found = {"why_not": f"it could not be built or run: {failed}"}
    return ours, theirs | {"VPA's admission controller": found}


async def _by_ours(program: Path, folder: Path, kube: FakeKube, processes: int) -> Figures:
    with ExitStack() as stack:
        address = ""
        for number in range(processes):
            own = f"data-{processes}-{number}"
            address, process = admission_started(
                stack, folder, kube.token, kube.authority.pem, kube.port,
                f"--siblings={folder / f'siblings-{processes}'}",
                own=own, address=address, cpu=None,
            )  # fmt: skip
            socket = folder / own / f"{names.ADMISSION}.sock"
            await asyncio.to_thread(process.wait_ready, socket)
        url = f"https://{address}/mutate"
        return {
            "labels": await _rate(program, folder, url, *LABELS),
            vpa_peer.CASE: await _rate(program, folder, url, *SIZED),
        }


async def _rate(program: Path, folder: Path, url: str, namespace: str, varied: str) -> int:
    """Answers per second."""
    asking = f"-connections={CONNECTIONS}"
    found = await ask(program, folder, url, namespace, varied, asking, cpu=None)
    assert not found["failed"], found
    answers: int = found["answers"]
    seconds: float = found["seconds"]
    return round(answers / seconds)
