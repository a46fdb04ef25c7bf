"""`nemutator scalers`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.documents import Output
from nemutator_ctl.scalers.view import SCALERS_PATH, decode, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "scalers",
        "Say what ForecastScalers foresee of workloads, which minimums of autoscalers they raise, and why.",
        output=True,
        remote=True,
        watch=True,
        wide=True,
    )
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="only of this one")
    given = parser.parse_args(argv)
    query = {"namespace": given.namespace} if given.namespace else {}
    document = arguments.brain(given).get(SCALERS_PATH, query)
    wide = given.output == Output.WIDE
    arguments.write(document, given.output, lambda: overview(decode(document), wide=wide))
    return ExitCode.OK
