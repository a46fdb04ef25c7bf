"""`nemutator explain`, from its command line to its output."""

import shutil
import sys
from collections.abc import Sequence

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
from nemutator_ctl.explain.histogram import Drawing
from nemutator_ctl.explain.view import (
    ADVICE_PATH,
    HISTOGRAMS_PATH,
    chosen,
    decode,
    decode_histograms,
    nothing_of,
    view,
)


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
    query = arguments.present(namespace=given.namespace)
    brain = arguments.brain(given)
    recommendations = decode(brain.get(ADVICE_PATH, query))
    rows = chosen(recommendations, given.workload, given.container)
    if not rows:
        raise OperatorError(
            nothing_of(
                given.workload, given.container, chosen(recommendations, given.workload, None)
            ),
            remedy="`nemutator advise` shows all that was",
            code=ExitCode.FAILED,
        )
    wanted = arguments.present(workload=given.workload, container=given.container)
    used = decode_histograms(brain.get(HISTOGRAMS_PATH, {**query, **wanted}))
    arguments.write(None, "table", lambda: view(rows, used, _drawing()))
    return ExitCode.OK


def _drawing() -> Drawing:
    """As wide as the terminal (COLUMNS wins), in characters that it has."""
    try:
        "▁█─▲→".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return Drawing(shutil.get_terminal_size().columns, unicode=False)
    return Drawing(shutil.get_terminal_size().columns)
