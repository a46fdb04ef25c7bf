"""`python -m nemutator_init`: fetches what this pod declares and ends, or reports why it cannot."""

import argparse
import errno
import os
import platform
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NoReturn, TypeVar

from nemutator_common import __version__, names

from nemutator_init import exec_program, secret_files
from nemutator_init.agent_socket import AgentSocket
from nemutator_init.answers import NeverError
from nemutator_init.declared_secrets import ask_for_declared, ask_for_files, fetch
from nemutator_init.exec_program import ProgramMissingError
from nemutator_init.waits import wait

T = TypeVar("T")

PROGRAM = "nemutator-init"


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    # The kernel drops signals that the first process of a container does not handle, so a pod that is
    # deleted while this waits would take all of its grace period.
    signal.signal(signal.SIGTERM, _end)
    folder: Path = arguments.directory / "secrets"
    if not arguments.directory.is_dir():
        _report(f"there is no {arguments.directory}; remedy: {_MOUNT_IT}")
        return 1
    if arguments.exec_to is not None and (why := _without_program(arguments.exec_to)):
        _report(why)
        return 1
    agent = AgentSocket(arguments.directory / names.POD_SOCKET)
    try:
        written = _files(agent, folder, arguments)
    except NeverError as error:
        _report(str(error))
        return 1
    except OSError as error:
        _report(f"{error.filename or folder}: {error.strerror}; remedy: {remedy_of(error)}")
        return 1
    _report(
        f"{len(written)} secrets are in {folder}: {', '.join(sorted(written)) or 'none declared'}"
    )
    return 0


def _files(agent: AgentSocket, folder: Path, arguments: argparse.Namespace) -> Collection[str]:
    """The names of the files, once all are there. Raises NeverError, OSError."""

    def fetched(ask: Callable[[AgentSocket], T]) -> T:
        return fetch(
            lambda: ask(agent),
            wait_s=arguments.wait,
            now=time.monotonic,
            sleep=time.sleep,
            roll=random.SystemRandom().random,
            report=_report,
        )

    if arguments.mode is None:
        written = fetched(ask_for_files)
        for name in written:
            os.stat(folder / name)
        return written
    values = fetched(ask_for_declared)
    secret_files.write(folder, values, mode=arguments.mode)
    return values


_MOUNT_IT = (
    f"mount the volume of driver {names.CSI_DRIVER} in this container, at the path of --directory, and "
    "not read-only"
)


def remedy_of(error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return "declare fewer secrets, or take away what else is in the volume: it has 1 MiB"
        case errno.EPERM | errno.EACCES:
            return f"let all init containers that write there run as one user, or {_MOUNT_IT}"
    return _MOUNT_IT


def _without_program(folder: Path) -> str:
    """Why the program that starts the containers is not in *folder*; empty when it is."""
    machine = platform.machine()
    try:
        exec_program.deliver(folder, machine)
    except ProgramMissingError:
        return (
            f"there is no {names.EXEC_PROGRAM} for {machine}; remedy: read variables from the socket "
            f"(GET /v1/env), and take the annotations {names.ENVIRONMENT_PREFIX}<name> away"
        )
    except OSError as error:
        return (
            f"{error.filename or folder}: {error.strerror}; remedy: mount a volume of 64 KiB there "
            "that this user may write"
        )
    return ""


def _end(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "--wait", type=wait, default=120.0, help="how long to wait for agent and Vault: 120s"
    )
    parser.add_argument(
        "--mode",
        type=_mode,
        help="write the files here and with these permissions, in octal; they do not follow changes "
        "then where others may not read them. Without it the agent writes them",
    )
    parser.add_argument(
        "--directory",
        type=Path,
        default=Path(names.POD_DIRECTORY),
        help=f"where the volume is mounted: {names.POD_DIRECTORY}",
    )
    parser.add_argument(
        "--exec-to",
        type=Path,
        metavar="DIRECTORY",
        help=f"where to put {names.EXEC_PROGRAM}, for containers that are started by it",
    )
    return parser


def _mode(text: str) -> int:
    if not re.fullmatch(r"0?[4-6][04][04]", text):
        raise argparse.ArgumentTypeError("expected permissions to read, like 0400, 0440 or 0444")
    return int(text, 8)


def _report(text: str) -> None:
    sys.stderr.write(f"{PROGRAM}: {text}\n")


if __name__ == "__main__":
    sys.exit(main())
