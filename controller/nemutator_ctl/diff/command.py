"""`nemutator diff`, from its command line to its output. It asks nobody."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.profiles.difference import difference
from nemutator_common.profiles.flamegraph import render_difference
from nemutator_common.profiles.sums import NotAlikeError

from nemutator_ctl import profile_files
from nemutator_ctl.diff.view import view

END = ".html"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="nemutator diff",
        description="Compare two profiles from files: pprof of any tool, or folded stacks.",
        allow_abbrev=False,
    )
    parser.add_argument("before", type=Path, metavar="BEFORE", help="the earlier one")
    parser.add_argument("after", type=Path, metavar="AFTER", help="the later one")
    parser.add_argument(
        "-o", "--output", type=Path, metavar=f"FILE{END}", help="draw both in one flame graph"
    )
    given = parser.parse_args(argv)
    if given.output is not None:
        if not given.output.name.endswith(END):
            raise OperatorError(
                f"{given.output.name}: two profiles are saved as a drawing alone",
                remedy=f"end it in {END}",
                code=ExitCode.USAGE,
            )
        profile_files.check(given.output)
    before, after = given.before.name, given.after.name
    try:
        found = difference(profile_files.read(given.before), profile_files.read(given.after))
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
