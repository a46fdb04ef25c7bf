"""`nemutator up`, from its command line to its exit code."""

import argparse
import functools
from collections.abc import Sequence

from nemutator_common import launching

from nemutator_ctl.settings import UpSettings
from nemutator_ctl.up import app

SUMMARY = "Run everything that nemutator needs on this machine, until Ctrl-C."


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="nemutator up", description=SUMMARY, allow_abbrev=False)
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
    role = launching.Role(UpSettings, functools.partial(app.run, config=arguments.config), SUMMARY)
    return launching.start("nemutator up", role, arguments)
