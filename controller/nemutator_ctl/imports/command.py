"""`nemutator import vpa`, from its command line to its output."""

import sys
from collections.abc import Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.yaml_documents import DocumentError, parsed

from nemutator_ctl import arguments
from nemutator_ctl.documents import Output, rendered
from nemutator_ctl.imports.translation import Imported, imported
from nemutator_ctl.terminal_text import visible


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "import", "Turn objects of others into ours: nothing is changed anywhere.", output=False
    )
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="vpa")
    vpa = kinds.add_parser(
        "vpa", help="print SizingPolicies for VerticalPodAutoscalers, and say what differs"
    )
    vpa.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="VerticalPodAutoscalers (YAML or JSON, Lists too); - is standard input",
    )
    given = parser.parse_args(argv)
    found = [one for name in given.files for one in _read(name)]
    if not found:
        raise OperatorError(
            "there is no VerticalPodAutoscaler in it",
            remedy="kubectl get vpa --all-namespaces -o yaml | nemutator import vpa -",
            code=ExitCode.USAGE,
        )
    for one in found:
        if not one.fault:
            sys.stdout.write("---\n" + rendered(one.policy, Output.YAML))
    for one in found:
        faults = [f"left out, as no SizingPolicy can say it: {one.fault}"] if one.fault else []
        for difference in faults or one.differences:
            sys.stderr.write(f"nemutator: {visible(f'{one.name}: {difference}', limit=300)}\n")
    return ExitCode.OK


def _read(name: str) -> list[Imported]:
    try:
        return imported(parsed(arguments.content(Path(name))))
    except DocumentError as error:
        raise OperatorError(
            visible(f"{name}: {error}", limit=300),
            remedy="give it what `kubectl get vpa -o yaml` prints",
            code=ExitCode.USAGE,
        ) from error
