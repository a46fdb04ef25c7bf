"""`nemutator pgo`, from its command line to its output. It asks the brain only where a workload is named."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.profiles.model import Profile
from nemutator_common.profiles.pgo import NoGoCallsError, compiler_profile

from nemutator_ctl import arguments, profile_files
from nemutator_ctl.pgo.sources import cpu_profile, is_file
from nemutator_ctl.pgo.view import view
from nemutator_ctl.stored_profiles import PATH, cpu_profiles

DEFAULT = Path("default.pgo")


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "pgo",
        "Merge CPU profiles of a workload, of all replicas and times, into one for `go build -pgo`.",
        output=False,
        remote=True,
    )
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="WORKLOAD|FILE",
        help="a workload whose profiles the brain keeps, or a file of pprof",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        default=DEFAULT,
        help=f"what to write ({DEFAULT}, which `go build` finds beside package main)",
    )
    arguments.add_cluster(parser)
    given = parser.parse_args(argv)
    profile_files.check(given.output)
    try:
        made = compiler_profile(_profiles(given))
    except NoGoCallsError as error:
        raise OperatorError(
            f"the compiler could not use these profiles: {error}",
            remedy="profile a program of Go 1.20 or newer, while it works",
            code=ExitCode.FAILED,
        ) from error
    sys.stdout.write(view(made))
    saved = profile_files.save(given.output, made.content, remedy="name another file with -o")
    sys.stderr.write(saved)
    return ExitCode.OK


def _profiles(given: argparse.Namespace) -> Iterator[Profile]:
    for source in given.sources:
        if is_file(source):
            yield cpu_profile(source, profile_files.read(Path(source)))
            continue
        path = arguments.of_cluster(given, PATH)
        yield from cpu_profiles(arguments.brain(given), source, path=path)
