"""`nemutator mutations`, from its command line to its output."""

import sys
from collections.abc import Sequence
from urllib.parse import quote

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.documents import Output, rendered
from nemutator_ctl.mutations.view import MUTATIONS_PATH, decode, details, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "mutations", "Show what was changed, or all about one change.", output=True, remote=True
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="show each field of this one")
    parser.add_argument("-n", "--namespace", help="only what was changed in this one")
    parser.add_argument("--limit", type=int, default=50, help="the newest so many (50)")
    given = parser.parse_args(argv)
    brain = arguments.brain(given)
    if given.id is None:
        query = {"limit": str(given.limit)}
        query |= {"namespace": given.namespace} if given.namespace else {}
        document = brain.get(MUTATIONS_PATH, query)
    else:
        document = brain.get(f"{MUTATIONS_PATH}/{quote(given.id, safe='')}")
    output = Output(given.output)
    if output is not Output.TABLE:
        sys.stdout.write(rendered(document, output))
    elif given.id is None:
        sys.stdout.write(overview(decode(document), namespace=given.namespace))
    else:
        sys.stdout.write(details(document))
    return ExitCode.OK
