"""`nemutator sizing`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_ctl import arguments
from nemutator_ctl.sizing.view import SIZING_PATH, decode, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "sizing",
        "Show the SizingPolicies, and for each pod whether it has what it should have, and why not.",
        output=True,
        remote=True,
        watch=True,
    )
    return arguments.show_list(
        parser, argv, SIZING_PATH, lambda document: overview(decode(document))
    )
