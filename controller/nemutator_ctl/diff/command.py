"""`nemutator diff`, from its command line to its output. It asks the brain of workloads alone."""

import sys
from collections.abc import Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.profiles.difference import difference
from nemutator_common.profiles.flamegraph import render_difference
from nemutator_common.profiles.sums import NotAlikeError

from nemutator_ctl import arguments, profile_files
from nemutator_ctl.diff.view import view
from nemutator_ctl.profile_sources import read, shown_name

END = ".html"


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "diff",
        "Compare two profiles from files: pprof of any tool, or folded stacks.",
        output=False,
        remote=True,
    )
    parser.add_argument(
        "before", metavar="BEFORE", help="the earlier one: a file, or workload:NAME as of `flame`"
    )
    parser.add_argument("after", metavar="AFTER", help="the later one")
    parser.add_argument(
        "-o", "--output", type=Path, metavar=f"FILE{END}", help="draw both in one flame graph"
    )
    arguments.add_cluster(parser)
    given = parser.parse_args(argv)
    if given.output is not None:
        if not given.output.name.endswith(END):
            raise OperatorError(
                f"{given.output.name}: two profiles are saved as a drawing alone",
                remedy=f"end it in {END}",
                code=ExitCode.USAGE,
            )
        profile_files.check(given.output)
    before, after = shown_name(given.before), shown_name(given.after)
    try:
        found = difference(read(given.before, given), read(given.after, given))
    except NotAlikeError as error:
        raise OperatorError(
            f"these two cannot be compared: {error}",
            remedy="name two files that count the same",
            code=ExitCode.USAGE,
        ) from error
    sys.stdout.write(view(found, before, after))
    if given.output is not None:
        page = render_difference(found, title=f"{before} → {after}", before=before, after=after)
        sys.stderr.write(
            profile_files.save(given.output, page.encode(), remedy="name another file")
        )
    return ExitCode.OK
