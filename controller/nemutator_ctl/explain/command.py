"""`nemutator explain`, from its command line to its output."""

import shutil
import sys
from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.explain.asked_workload import asked
from nemutator_ctl.explain.histogram import Drawing
from nemutator_ctl.explain.view import view


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "explain",
        "Say how the advice on a workload comes about.",
        output=False,
        remote=True,
    )
    parser.add_argument("workload", help="its name, or KIND/NAME as `nemutator advise` shows it")
    parser.add_argument("container", nargs="?", help="only this one")
    parser.add_argument("-n", "--namespace", help="where it is")
    given = parser.parse_args(argv)
    found = asked(arguments.brain(given), given.workload, given.container, given.namespace)
    arguments.write(None, "table", lambda: view(found.rows, found.used, _drawing()))
    return ExitCode.OK


def _drawing() -> Drawing:
    """As wide as the terminal (COLUMNS wins), in characters that it has."""
    try:
        "▁█─▲→".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return Drawing(shutil.get_terminal_size().columns, unicode=False)
    return Drawing(shutil.get_terminal_size().columns)
