"""`nemutator link`: a fresh link that opens the console once."""

import sys
from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import answers, arguments
from nemutator_ctl.local_api import LocalApi


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser("link", "Print a link that opens the console once.", output=False)
    brain = LocalApi(arguments.directory(parser.parse_args(argv)))
    sys.stdout.write(answers.link(brain.post(answers.LINKS_PATH)) + "\n")
    return ExitCode.OK
