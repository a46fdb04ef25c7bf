"""`nemutator exec --env DB_PASSWORD=db -- COMMAND…`: becomes the command, with secrets in its environment.

The agent is asked on the socket that programs ask, so the rules of each secret hold for the process
that runs this. A value is in the memory of this process and in the environment of the command, and
nowhere else.
"""

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from nemutator_common.core_dumps import hide_memory
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_init.answers import NeverError
from nemutator_init.declared_secrets import ask_for, fetch

from nemutator_ctl import arguments
from nemutator_ctl.exec.variables import (
    environment,
    not_executed,
    not_started,
    split,
    wanted_variables,
    without_pythons,
)
from nemutator_ctl.terminal_text import visible


def main(argv: Sequence[str]) -> NoReturn:
    own, command = split(argv)
    given = _parser().parse_args(own)
    wanted = wanted_variables(given.env)
    if not command:
        raise OperatorError(
            "no command is given",
            remedy="write it after `--`: nemutator exec --env DB_PASSWORD=db -- COMMAND…",
            code=ExitCode.USAGE,
        )
    # Before its memory is hidden, and with it the kernel's own list.
    inherited = without_pythons(os.environb, _started_with())
    hide_memory()
    values = _values(given, set(wanted.values()))
    made = environment(inherited, wanted, values)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        # Python ignores these, and a command inherits what is ignored.
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvpe(command[0], list(command), made)  # noqa: S606 - it is what the person typed
    except OSError as error:
        raise not_executed(visible(command[0], limit=200), error) from None


def _started_with() -> bytes | None:
    try:
        return Path("/proc/self/environ").read_bytes()
    except OSError:
        return None


def _values(given: argparse.Namespace, secrets: set[str]) -> Mapping[str, bytes]:
    agent = arguments.agent(given)
    try:
        return fetch(
            lambda: {secret: ask_for(secret, agent) for secret in sorted(secrets)},
            wait_s=given.wait,
            now=time.monotonic,
            sleep=time.sleep,
            roll=random.SystemRandom().random,
            report=_say,
        )
    except NeverError as error:
        what, _, remedy = str(error).partition("; remedy: ")
        raise not_started(what, remedy or "see the log of `nemutator up`") from None


def _say(text: str) -> None:
    sys.stderr.write(f"nemutator exec: {text}\n")


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser(
        "exec", "Run a command with secrets of this machine in its environment.", output=False
    )
    parser.usage = "nemutator exec [--env VARIABLE=SECRET] … [OPTIONS] -- COMMAND [ARGUMENT] …"
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="VARIABLE=SECRET",
        help="the variable, and the secret that it gets the value of; may be given several times",
    )
    arguments.add_agent(parser)
    return parser
