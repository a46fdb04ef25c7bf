"""Webhooks in Go that a real API server asks in the same run: what it waits for those is not our doing. And a listener of ours that
decides nothing."""

import asyncio
import json
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from nemutator_common import names

from tests.bench import first_light_reviews as reviews
from tests.bench.admission_floor import MODULE, PATCHES
from tests.bench.first_light_admission import ANSWERING_CPU, Figures, asked, written_files
from tests.bench.first_light_processes import Process, running, started
from tests.testbed.running.ports import free_port
from tests.testbed.running.waiting import until

EMPTY, TWIN, SAME_PATCH, FLOOR = "empty", "twin", "same-patch", "floor"
"""Namespaces whose pods are let in as they are; get two labels, with a record; get just the patch that ours
gives by three policies and injection, from a file; get that from our listener, which decides nothing."""

WHAT: Mapping[str, str] = {
    EMPTY: "Go net/http that lets every pod in as it is",
    TWIN: "Go net/http + encoding/json, two labels, with a record in a file",
    SAME_PATCH: "Go net/http that answers with the patch of three policies and injection, without a record",
    FLOOR: "our listener that answers with that patch, without a decision or a record",
}


def peers_started(stack: ExitStack, folder: Path, program: Path, patch: bytes) -> Mapping[str, str]:
    """The URL of each, by its namespace; *program* has them all."""
    no_patch, same = folder / "no.patch", folder / "same.patch"
    no_patch.write_bytes(b"")
    same.write_bytes(patch)
    flags = {
        EMPTY: [f"-patch={no_patch}"],
        TWIN: [f"-labels={json.dumps(reviews.LABELS)}", f"-records={folder / 'records'}"],
        SAME_PATCH: [f"-patch={same}"],
    }
    pair = [f"-certificate={folder / 'server.crt'}", f"-key={folder / 'server.key'}"]
    urls = {}
    for name, more in flags.items():
        argv = [str(program), "serve", *pair, *more]
        process = stack.enter_context(
            running(name, argv, folder, cpu=ANSWERING_CPU, environment={"GOMAXPROCS": "1"})
        )
        until(partial(_says_where, process), f"{name} listens", within_s=20)
        urls[name] = f"https://{process.log.read_text().split()[0]}/"
    urls[FLOOR] = f"https://{floor_started(stack, folder, {FLOOR: patch})}/{FLOOR}"
    return urls


def floor_started(stack: ExitStack, folder: Path, patches: Mapping[str, bytes]) -> str:
    """The address of our listener without a decision, which answers at each path with the patch of that name."""
    own = folder / "floor"
    own.mkdir()
    for name, patch in patches.items():
        (own / f"{name}.patch").write_bytes(patch)
    address = f"127.0.0.1:{free_port()}"
    process = stack.enter_context(
        started(
            "admission", own, f"--data-dir={own / 'data'}", f"--address={address}",
            f"--tls-certificate={folder / 'server.crt'}", f"--tls-key={folder / 'server.key'}",
            cpu=ANSWERING_CPU, environment={PATCHES: str(own)}, module=MODULE,
        )
    )  # fmt: skip
    process.wait_ready(own / "data" / f"{names.ADMISSION}.sock")
    return address


def floor_of(program: Path, patches: Mapping[str, bytes]) -> Figures:
    """What is left of an answer with each of *patches*, by case, as *program* sees it."""
    with tempfile.TemporaryDirectory(prefix="floor-") as name, ExitStack() as stack:
        folder = Path(name)
        written_files(folder, [reviews.OPTED_IN])
        # Its paths are plain ones.
        paths = {case: f"patch-{number}" for number, case in enumerate(patches)}
        address = floor_started(
            stack, folder, {paths[case]: patch for case, patch in patches.items()}
        )
        return {
            case: asyncio.run(
                asked(
                    program, folder, f"https://{address}/{path}", reviews.OPTED_IN, reviews.RANDOM
                )
            )
            for case, path in paths.items()
        }


def _says_where(process: Process) -> bool:
    return b"\n" in process.log.read_bytes()
