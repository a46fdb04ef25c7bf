"""`nemutator advise`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.advise.view import ADVICE_PATH, decode, view
from nemutator_ctl.documents import Output


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "advise",
        "Say what containers should request, from what they used so far.",
        output=True,
        remote=True,
        wide=True,
    )
    parser.add_argument("-n", "--namespace", help="only this one: a top-level cgroup, off clusters")
    given = parser.parse_args(argv)
    query = {} if given.namespace is None else {"namespace": given.namespace}
    document = arguments.brain(given).get(ADVICE_PATH, query)
    wide = given.output == Output.WIDE.value
    arguments.write(
        document,
        given.output,
        lambda: view(decode(document), namespace=given.namespace, wide=wide),
    )
    return ExitCode.OK
