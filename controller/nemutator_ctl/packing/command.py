"""`nemutator packing`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.packing.view import PACKING_PATH, decode, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "packing",
        "Say which nodes could be emptied and where their pods would have room, which are, and why the others not. Nothing"
        " is moved by it.",
        output=True,
        remote=True,
    )
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="nodes at most: 10")
    given = parser.parse_args(argv)
    document = arguments.brain(given).get(PACKING_PATH, {"limit": str(given.limit)})
    arguments.write(document, given.output, lambda: overview(decode(document)))
    return ExitCode.OK
