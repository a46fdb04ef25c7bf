"""`nemutator topology`, from its command line to its output."""

import argparse
import sys
from collections.abc import Sequence

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
from nemutator_ctl.documents import Output, rendered
from nemutator_ctl.nodes import NODES_PATH, TOPOLOGY_PATH, ShownNode, decode, decode_list
from nemutator_ctl.terminal_text import visible
from nemutator_ctl.topology.view import list_view, nothing_found, view


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "topology", "Show what runs here, and what it uses.", output=True, remote=True
    )
    parser.add_argument(
        "node", nargs="?", metavar="NODE", help="only this one; of several nodes, all are listed"
    )
    parser.add_argument("-n", "--namespace", help="only this one: a top-level cgroup, off clusters")
    parser.add_argument("-l", "--selector", help="only workloads with these labels: kind=unit,…")
    given = parser.parse_args(argv)
    wanted = {"node": given.node, "namespace": given.namespace, "labelSelector": given.selector}
    query = {key: value for key, value in wanted.items() if value is not None}
    api, output = arguments.brain(given), Output(given.output)
    if query:
        document = api.get(TOPOLOGY_PATH, query)
        nodes = _found(decode(document), given)
        return _print(view(nodes) if nodes else "", document, output)
    document = api.get(NODES_PATH)
    listing = decode_list(document)
    if len(listing) != 1:
        return _print(list_view(listing), document, output)
    document = api.get(TOPOLOGY_PATH, {"node": listing[0].name})
    return _print(view(decode(document)), document, output)


def _found(nodes: Sequence[ShownNode], given: argparse.Namespace) -> Sequence[ShownNode]:
    """Those of *nodes* where there is what was asked for; a message when there is none."""
    if given.node is not None and not nodes:
        raise OperatorError(
            f"no node called {visible(given.node, limit=64)} reports here",
            remedy="`nemutator topology` lists the nodes that do",
            code=ExitCode.FAILED,
        )
    if given.namespace is None and given.selector is None:
        return nodes
    found = [node for node in nodes if node.workloads or node.processes]
    if not found:
        # As with kubectl, finding nothing is no failure; but the reason is shown.
        sys.stderr.write(nothing_found(nodes, namespace=given.namespace, selector=given.selector))
    return found


def _print(text: str, document: object, output: Output) -> int:
    sys.stdout.write(text if output is Output.TABLE else rendered(document, output))
    return ExitCode.OK
