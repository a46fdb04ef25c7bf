"""`nemutator tombstones`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode
from nemutator_controller.mutations.paths import NODE, SWITCHED

from nemutator_ctl import arguments
from nemutator_ctl.tombstones.view import TOMBSTONES_PATH, decode, forgotten, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "tombstones",
        "Show the fields that stay taken back, or forget them, so that policies change them again.",
        output=True,
        remote=True,
    )
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="only of this one")
    parser.add_argument("--workload", metavar="KIND/NAME", help="only of this one: Deployment/web")
    parser.add_argument("--path", metavar="PATH", help="only this field")
    parser.add_argument(
        "--forget", action="store_true", help="forget them: of one --workload, in -n"
    )
    given = parser.parse_args(argv)
    parser.refuse_empty(given, "namespace", "workload", "path")
    # Policies and nodes have no namespace.
    is_in_none = bool(given.workload) and given.workload.partition("/")[0] in (*SWITCHED, NODE)
    if given.forget and not (given.workload and (given.namespace or is_in_none)):
        parser.error("--forget: say of which workload, with -n NAMESPACE --workload KIND/NAME")
    words = ("namespace", "workload", "path")
    query = {word: getattr(given, word) for word in words if getattr(given, word)}
    brain = arguments.brain(given)
    if given.forget:
        document = brain.post(f"{TOMBSTONES_PATH}/forget", query=query)
        arguments.write(document, given.output, lambda: forgotten(decode(document)))
        return ExitCode.OK if decode(document) else ExitCode.FAILED
    document = brain.get(TOMBSTONES_PATH, query)
    arguments.write(document, given.output, lambda: overview(decode(document)))
    return ExitCode.OK
