"""`nemutator report`: one archive for whoever helps."""

import io
import json
import os
import platform
import sys
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from nemutator_common import __version__, names
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
from nemutator_ctl.api import Api
from nemutator_ctl.local_api import LocalApi
from nemutator_ctl.report.credentials import without_any_value, without_credentials
from nemutator_ctl.report.pared import pared, without_labels

ASKED = {
    "nodes": "/api/v1/nodes?limit=1000",
    "workloads": "/api/v1/workloads?limit=1000",
    "profiles": "/api/v1/profiles",
    "mutations": "/api/v1/mutations?limit=500",
    "missed-pods": "/api/v1/missed-pods",
    "advice": "/api/v1/advice",
    "ageing": "/api/v1/ageing",
    "leases": "/api/v1/leases",
    "grants": "/api/v1/grants?limit=500",
    "sizing": "/api/v1/sizing",
    "evictions": "/api/v1/evictions",
    "rolls": "/api/v1/rolls",
}
"""By name in the archive: what the brain is asked."""

RUNNING = (names.BRAIN, names.CREDENTIALS, names.OBSERVE)
"""The processes of one machine, which say on their sockets what they have counted."""


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "report",
        "Write an archive for whoever helps: what runs, in which state, and what was counted. It has no"
        " secret, no value of a variable and no command line; names of workloads and nodes it has.",
        output=False,
        remote=True,
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="where to; `-`: standard output")
    given = parser.parse_args(argv)
    brain = arguments.brain(given)
    files = {"about.json": _text(_about())}
    problems: list[str] = []
    for name, path in ASKED.items():
        _add(files, problems, f"brain/{name}.json", partial(_asked, brain, path))
    if isinstance(brain, LocalApi):
        directory = arguments.directory(given)
        for role in RUNNING:
            there = LocalApi(directory, role=role)
            for operation in ("metrics", "readyz"):
                ask = partial(_said, there, f"/{operation}")
                _add(files, problems, f"{operation}/{role}.txt", ask)
    files["problems.txt"] = "".join(f"{line}\n" for line in problems).encode()
    _write(files, given.file or f"nemutator-report-{time.strftime('%Y%m%d-%H%M%S')}.tar.gz")
    for line in problems:
        sys.stderr.write(f"nemutator report: {line}\n")
    return ExitCode.OK


def _add(files: dict[str, bytes], problems: list[str], name: str, ask: Callable[[], bytes]) -> None:
    """What somebody may not see, or does not run, is no reason to go without the rest."""
    try:
        files[name] = ask()
    except OperatorError as error:
        # Whoever answers may have put anything into its reason.
        problems.append(f"{name}: {without_any_value(error.what)}")


def _asked(brain: Api, path: str) -> bytes:
    return _text(pared(without_labels(brain.get(path))))


def _said(process: Api, path: str) -> bytes:
    text = process.content(path).decode(errors="replace")
    return without_credentials(text).encode()


def _text(document: object) -> bytes:
    return without_credentials(json.dumps(document, indent=1) + "\n").encode()


def _about() -> dict[str, object]:
    return {
        "version": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
        "at": int(time.time()),
    }


def _write(files: Mapping[str, bytes], where: str) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as packed:
        for name, content in files.items():
            member = tarfile.TarInfo(f"nemutator-report/{name}")
            member.size, member.mtime, member.mode = len(content), int(time.time()), 0o600
            packed.addfile(member, io.BytesIO(content))
    if where == "-":
        sys.stdout.buffer.write(archive.getvalue())
        return
    try:
        # Only its owner reads it: names are nobody else's business either.
        with open(os.open(where, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(archive.getvalue())
    except OSError as error:
        raise OperatorError(
            f"{where}: {error.strerror}",
            remedy="name a file that is not there yet, in a directory that you may write",
            code=ExitCode.FAILED,
        ) from error
    sys.stdout.write(f"{Path(where).absolute()}\n")
