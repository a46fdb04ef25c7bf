"""`nemutator missed`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_ctl import arguments
from nemutator_ctl.missed.view import MISSED_PODS_PATH, decode, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "missed",
        "Show the pods that run and that admission has missed, and what was done about each.",
        output=True,
        remote=True,
        watch=True,
    )
    return arguments.show_list(
        parser, argv, MISSED_PODS_PATH, lambda document: overview(decode(document))
    )
