"""`nemutator policy test`, from its command line to its output."""

import sys
from collections.abc import Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.policy.trial import InputFile, attempt


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "policy", "Try policies on manifests: no server, nothing is changed.", output=False
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="test")
    test = verbs.add_parser("test", help="print what the policies would change in the manifests")
    test.add_argument("files", nargs="+", metavar="FILE", help="policies and manifests (YAML)")
    given = parser.parse_args(argv)
    files = [InputFile(name, arguments.content(Path(name))) for name in given.files]
    report = attempt(files)
    sys.stdout.write(report.text)
    sys.stderr.write("".join(f"nemutator: {fault}\n" for fault in report.faults))
    return ExitCode.FAILED if report.faults else ExitCode.OK
