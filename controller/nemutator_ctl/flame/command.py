"""`nemutator flame`, from its command line to its output. It asks the brain of workloads alone."""

import sys
from collections.abc import Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.profiles.sums import NotAlikeError, summed

from nemutator_ctl import arguments, profile_files
from nemutator_ctl.flame.files import rendering
from nemutator_ctl.flame.view import view
from nemutator_ctl.profile_sources import read, shown_name


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "flame",
        "Show profiles from files, several of them as one: pprof of any tool, or folded stacks.",
        output=False,
        remote=True,
    )
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="FILE|workload:NAME",
        help="what to read; of a workload, all CPU profiles that the brain keeps",
    )
    parser.add_argument("--title", help="what it shows; by itself, the names of the files")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="save it: x.html draws it; x.folded, x.speedscope.json and x.pb.gz are for other tools",
    )
    arguments.add_cluster(parser)
    given = parser.parse_args(argv)
    render = None if given.output is None else rendering(given.output)
    if render is not None:
        profile_files.check(given.output)
    title = given.title or ", ".join(map(shown_name, given.sources))
    try:
        profile = summed([read(source, given) for source in given.sources])
    except NotAlikeError as error:
        raise OperatorError(
            f"these files are not of one kind: {error}",
            remedy="name files that count the same, or compare two with `nemutator diff`",
            code=ExitCode.USAGE,
        ) from error
    sys.stdout.write(view(profile, title))
    if render is not None:
        content = render(profile, title)
        sys.stderr.write(profile_files.save(given.output, content, remedy="name another file"))
    return ExitCode.OK
