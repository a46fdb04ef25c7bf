"""`nemutator explain`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
from nemutator_ctl.explain.view import ADVICE_PATH, chosen, decode, view


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
    rows = chosen(
        decode(arguments.brain(given).get(ADVICE_PATH, query)), given.workload, given.container
    )
    if not rows:
        raise OperatorError(
            f"nothing was reported of {given.workload!r}",
            remedy="`nemutator advise` shows all that was",
            code=ExitCode.USAGE,
        )
    arguments.write(None, "table", lambda: view(rows))
    return ExitCode.OK
