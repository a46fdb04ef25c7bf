"""`nemutator missed`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.missed.view import MISSED_PODS_PATH, decode, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "missed",
        "Show the pods that run and that admission has missed, and what was done about each.",
        output=True,
        remote=True,
        watch=True,
    )
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="only of this one")
    given = parser.parse_args(argv)
    query = {"namespace": given.namespace} if given.namespace else {}
    document = arguments.brain(given).get(MISSED_PODS_PATH, query)
    arguments.write(document, given.output, lambda: overview(decode(document)))
    return ExitCode.OK
