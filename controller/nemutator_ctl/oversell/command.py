"""`nemutator oversell`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.documents import Output
from nemutator_ctl.oversell.view import OVERSELL_PATH, decode, overview
from nemutator_ctl.whole_lists import whole_list


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "oversell",
        "Say of each node how much CPU its pods request and use, how many times it is or could be oversold, and why no more."
        " Nothing is changed by it.",
        output=True,
        remote=True,
        wide=True,
        watch=True,
    )
    parser.add_argument("--by", metavar="ORDER", help="name, ratio, requested, used or waiting")
    parser.add_argument("--limit", help="at most so many")
    given = parser.parse_args(argv)
    query = arguments.present(orderBy=given.by, limit=given.limit)
    document = whole_list(arguments.brain(given), OVERSELL_PATH, query)
    wide = given.output == Output.WIDE
    arguments.write(document, given.output, lambda: overview(decode(document), wide=wide))
    return ExitCode.OK
