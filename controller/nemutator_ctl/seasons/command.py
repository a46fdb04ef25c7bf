"""`nemutator seasons`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.seasons.view import SEASONS_PATH, decode, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "seasons",
        "Show the season of the cluster and of its workloads, why it is so, and which policies follow it.",
        output=True,
        remote=True,
        watch=True,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="only workloads of this name")
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="only of this one")
    given = parser.parse_args(argv)
    words = {"namespace": given.namespace, "name": given.name}
    query = {word: value for word, value in words.items() if value}
    document = arguments.brain(given).get(SEASONS_PATH, query)
    arguments.write(document, given.output, lambda: overview(decode(document)))
    return ExitCode.OK
