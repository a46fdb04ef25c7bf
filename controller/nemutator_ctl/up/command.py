"""`nemutator up`, from its command line to its exit code."""

import argparse
import functools
import importlib.metadata
import re
from collections.abc import Iterator, Sequence

from nemutator_agent.settings.credentials import CredentialsSettings
from nemutator_agent.settings.observe import ObserveSettings
from nemutator_common import launching, names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.settings import SettingsError, Shared
from nemutator_controller.settings.brain import BrainSettings

from nemutator_ctl.parsers import Parser
from nemutator_ctl.settings import UpSettings
from nemutator_ctl.up import app

EXTRAS = ("agent", "controller")
"""What the processes under `up` need beside what the command line itself does."""

SUMMARY = "Run everything that nemutator needs on this machine, until Ctrl-C."


def main(argv: Sequence[str]) -> int:
    parser = Parser(prog="nemutator up", description=SUMMARY, allow_abbrev=False)
    launching.add_settings(parser, UpSettings)
    parser.add_argument(
        "-v",
        "--verbose",
        dest="setting:children_log_level",
        action="store_const",
        const="info",
        help="the same as --children-log-level info",
    )
    arguments = parser.parse_args(argv)
    if not arguments.print_settings:
        _judge_all(arguments)
        _check_packages()
    role = launching.Role(UpSettings, functools.partial(app.run, config=arguments.config), SUMMARY)
    return launching.start("nemutator up", role, arguments)


def _judge_all(arguments: argparse.Namespace) -> None:
    """Raise what is wrong for any of the processes at once, before the first of them starts."""
    schemas = (UpSettings, BrainSettings, CredentialsSettings, ObserveSettings)
    problems = [problem for schema in schemas for problem in _problems(schema, arguments)]
    if problems:
        # A setting that no schema knows is a problem of each of them.
        raise SettingsError(dict.fromkeys(problems))


def _problems(schema: type[Shared], arguments: argparse.Namespace) -> Iterator[str]:
    try:
        launching.settings_from(schema, arguments)
    except SettingsError as error:
        yield from error.problems


def _check_packages() -> None:
    """Raise when only the command line is installed here: the children would die of it."""
    lacking = sorted({name for name in _required() if not _is_installed(name)})
    if lacking:
        raise OperatorError(
            f"packages that the processes under `nemutator up` need are missing: {', '.join(lacking)}",
            remedy=f"pip install 'nemutator[{','.join(EXTRAS)},cli]', or `make run` in a clone",
            code=ExitCode.CHILD_DIED,
        )


def _required() -> Iterator[str]:
    try:
        requirements = importlib.metadata.requires(names.PREFIX) or ()
    except importlib.metadata.PackageNotFoundError:
        # The code was copied here, not installed, so nothing lists what it requires.
        return
    for requirement in requirements:
        if re.search(rf"extra == ['\"]({'|'.join(EXTRAS)})['\"]", requirement):
            yield re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
