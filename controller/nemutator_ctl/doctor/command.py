"""`nemutator doctor`, from its command line to its output. It asks no process of ours."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.doctor import machine
from nemutator_ctl.doctor.checks import State
from nemutator_ctl.doctor.findings import examine
from nemutator_ctl.doctor.view import document, view


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "doctor", "Say what this machine lacks, and why it counts.", output=True
    )
    parser.epilog = "Ends with 1 when something is missing that nemutator needs as it is now."
    given = parser.parse_args(argv)
    findings = examine(machine.read(arguments.directory(given).root))
    arguments.write(document(findings), given.output, lambda: view(findings))
    missing = any(finding.state is State.MISSING for finding in findings)
    return ExitCode.FAILED if missing else ExitCode.OK
