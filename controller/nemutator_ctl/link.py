"""`nemutator link`: a fresh link that opens the console once."""

import sys
from collections.abc import Mapping, Sequence

from nemutator_common.data_directory import DataDirectory
from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.local_api import LocalApi, not_understood

LINKS_PATH = "/api/v1/console-links"


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser("link", "Print a link that opens the console once.", output=False)
    sys.stdout.write(fresh_link(arguments.directory(parser.parse_args(argv))) + "\n")
    return ExitCode.OK


def fresh_link(directory: DataDirectory) -> str:
    """Ask the brain of *directory* for one."""
    answer = LocalApi(directory).post(LINKS_PATH)
    url = answer.get("url") if isinstance(answer, Mapping) else None
    if not isinstance(url, str) or not url.isprintable():
        raise not_understood("no link in it")
    return url
