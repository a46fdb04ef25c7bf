"""Webhooks in Go that a real API server asks in the same run: what it waits for those is not our doing."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.bench import first_light_reviews as reviews
from tests.bench.first_light_admission import ANSWERING_CPU
from tests.bench.first_light_processes import Process, running
from tests.testbed.running.waiting import until

EMPTY, TWIN, SAME_PATCH = "empty", "twin", "same-patch"
"""Namespaces whose pods are let in as they are; get two labels, with a record; get just the patch that ours
gives by three policies and injection, from a file."""

WHAT: Mapping[str, str] = {
    EMPTY: "Go net/http that lets every pod in as it is",
    TWIN: "Go net/http + encoding/json, two labels, with a record in a file",
    SAME_PATCH: "Go net/http that answers with the patch of three policies and injection, without a record",
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
    return urls


def _says_where(process: Process) -> bool:
    return b"\n" in process.log.read_bytes()
