"""`nemutator neighbours`, from its command line to its output."""

from collections.abc import Sequence
from urllib.parse import quote

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.neighbours.view import (
    NEIGHBOURS_PATH,
    decode,
    decode_one,
    details,
    overview,
)


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "neighbours",
        "Say which pods suffer when which others on their node are busy, and how much.",
        output=True,
        remote=True,
        watch=True,
    )
    parser.add_argument(
        "one",
        nargs="?",
        metavar="NAME",
        help="one pod or workload, with whom it is about: NAMESPACE/NAME",
    )
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="this one only")
    parser.add_argument("--role", choices=("victim", "aggressor"), help="only these")
    parser.add_argument("--workloads", action="store_true", help="workloads in the place of pods")
    parser.add_argument("--limit", type=int, default=100, metavar="N", help="so many at most: 100")
    given = parser.parse_args(argv)
    brain = arguments.brain(given)
    query = {} if given.namespace is None else {"namespace": given.namespace}
    if given.one is not None:
        namespace, slash, name = given.one.partition("/")
        if not slash:
            namespace, name = given.namespace or "", given.one
        if not namespace:
            parser.error(f"say the namespace of {given.one!r}: NAMESPACE/NAME, or -n")
        path = f"{NEIGHBOURS_PATH}/{quote(namespace, safe='')}/{quote(name, safe='')}"
        document = brain.get(path, query)
        arguments.write(document, given.output, lambda: details(decode_one(document)))
        return ExitCode.OK
    query |= {"of": "workloads" if given.workloads else "pods", "limit": str(given.limit)}
    if given.role is not None:
        query["role"] = given.role
    document = brain.get(NEIGHBOURS_PATH, query)
    arguments.write(document, given.output, lambda: overview(decode(document)))
    return ExitCode.OK
