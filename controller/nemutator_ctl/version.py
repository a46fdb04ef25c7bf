"""`nemutator version`: which nemutator this is, and what it runs on. Imports next to nothing."""

import platform
import sys
from collections.abc import Sequence

from nemutator_common import __version__, names
from nemutator_common.errors import ExitCode

from nemutator_ctl.documents import Output, add_output, rendered
from nemutator_ctl.parsers import Parser

SUMMARY = "Print the version."


def main(argv: Sequence[str]) -> int:
    parser = Parser(prog="nemutator version", description=SUMMARY, allow_abbrev=False)
    add_output(parser)
    output = Output(parser.parse_args(argv).output)
    if output is Output.TABLE:
        sys.stdout.write(f"nemutator {__version__}\n")
    else:
        document = {
            "apiVersion": names.API_VERSION,
            "kind": "Version",
            "version": __version__,
            "python": platform.python_version(),
        }
        sys.stdout.write(rendered(document, output))
    return ExitCode.OK
