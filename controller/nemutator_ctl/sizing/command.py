"""`nemutator sizing`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.sizing.view import SIZING_PATH, decode, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "sizing",
        "Show the SizingPolicies, and for each pod whether it has what it should have, and why not.",
        output=True,
        remote=True,
        watch=True,
    )
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="only of this one")
    given = parser.parse_args(argv)
    query = {"namespace": given.namespace} if given.namespace else {}
    document = arguments.brain(given).get(SIZING_PATH, query)
    arguments.write(document, given.output, lambda: overview(decode(document)))
    return ExitCode.OK
