"""`nemutator mutations`, from its command line to its output."""

from collections.abc import Sequence
from urllib.parse import quote

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.mutations.view import MUTATIONS_PATH, decode, details, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "mutations",
        "Show what was changed, or all about one change.",
        output=True,
        remote=True,
        watch=True,
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="show each field of this one")
    parser.add_argument("-n", "--namespace", help="only what was changed in this one")
    parser.add_argument("--limit", type=int, default=50, help="the newest so many (50)")
    given = parser.parse_args(argv)
    brain = arguments.brain(given)
    namespace = given.namespace
    if given.id is None:
        query = {"limit": str(given.limit)} | ({"namespace": namespace} if namespace else {})
        listed = brain.get(MUTATIONS_PATH, query)
        arguments.write(listed, given.output, lambda: overview(decode(listed), namespace=namespace))
    else:
        one = brain.get(f"{MUTATIONS_PATH}/{quote(given.id, safe='')}")
        arguments.write(one, given.output, lambda: details(one))
    return ExitCode.OK
