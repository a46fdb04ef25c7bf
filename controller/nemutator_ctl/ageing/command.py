"""`nemutator ageing`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
from nemutator_ctl.ageing.view import (
    AGEING_PATH,
    chosen,
    decode,
    decode_one,
    decode_pauses,
    details,
    others,
    overview,
)


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "ageing",
        "Say which workloads grow with age, how fast, and in which line of their code.",
        output=True,
        remote=True,
        watch=True,
    )
    parser.add_argument(
        "workload", nargs="?", help="one of them, by its id, program or owner: with its stacks"
    )
    parser.add_argument("-n", "--namespace", help="only this one: a top-level cgroup, off clusters")
    given = parser.parse_args(argv)
    query = {} if given.namespace is None else {"namespace": given.namespace}
    brain = arguments.brain(given)
    document = brain.get(AGEING_PATH, query)
    if given.workload is None:
        arguments.write(
            document, given.output, lambda: overview(decode(document), decode_pauses(document))
        )
        return ExitCode.OK
    listed = decode(document)
    found = chosen(listed, given.workload)
    if found is None:
        raise OperatorError(
            f"no workload that was looked at is called {given.workload!r}",
            remedy="`nemutator ageing` lists them all",
            code=ExitCode.FAILED,
        )
    one = brain.get(f"{AGEING_PATH}/{found.id}")
    arguments.write(
        one, given.output, lambda: details(decode_one(one)) + others(listed, given.workload)
    )
    return ExitCode.OK
