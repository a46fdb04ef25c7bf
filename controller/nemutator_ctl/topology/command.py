"""`nemutator topology`, from its command line to its output."""

import sys
from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.documents import Output, rendered
from nemutator_ctl.nodes import TOPOLOGY_PATH, decode
from nemutator_ctl.topology.view import view


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "topology", "Show what runs here, and what it uses.", output=True, remote=True
    )
    parser.add_argument("-n", "--namespace", help="only this one: a top-level cgroup, off clusters")
    parser.add_argument("-l", "--selector", help="only workloads with these labels: kind=unit,…")
    given = parser.parse_args(argv)
    query = {"namespace": given.namespace, "labelSelector": given.selector}
    document = arguments.brain(given).get(
        TOPOLOGY_PATH, {key: value for key, value in query.items() if value is not None}
    )
    output = Output(given.output)
    sys.stdout.write(
        view(decode(document)) if output is Output.TABLE else rendered(document, output)
    )
    return ExitCode.OK
