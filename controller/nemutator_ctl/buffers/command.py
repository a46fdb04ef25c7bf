"""`nemutator buffers`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.buffers.view import BUFFERS_PATH, decode, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "buffers",
        "Say how much room pods of low priority keep free, how much a SeasonPolicy wants, and why.",
        output=True,
        remote=True,
        watch=True,
    )
    given = parser.parse_args(argv)
    document = arguments.brain(given).get(BUFFERS_PATH, {})
    arguments.write(document, given.output, lambda: overview(decode(document)))
    return ExitCode.OK
