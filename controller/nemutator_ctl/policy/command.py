"""`nemutator policy test`, from its command line to its output."""

import sys
from collections.abc import Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.policy.trial import InputFile, attempt, tokens_in


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "policy", "Try policies on manifests: no server, nothing is changed.", output=False
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="test")
    test = verbs.add_parser("test", help="print what the policies would change in the manifests")
    test.add_argument(
        "files", nargs="+", metavar="FILE", help="policies and manifests (YAML); -: standard input"
    )
    test.add_argument(
        "--tokens", metavar="FILE", help="replace placeholders by the values in it (YAML or JSON)"
    )
    given = parser.parse_args(argv)
    files = [_file(name) for name in given.files]
    tokens = tokens_in(_file(given.tokens)) if given.tokens else None
    report = attempt(files, tokens)
    sys.stdout.write(report.text)
    sys.stderr.write("".join(f"nemutator: {fault}\n" for fault in report.faults))
    return ExitCode.FAILED if report.faults else ExitCode.OK


def _file(name: str) -> InputFile:
    return InputFile(name, arguments.content(Path(name)))
