"""`nemutator topology`, from its command line to its output."""

import argparse
import sys
from collections.abc import Sequence

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
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
    parser.add_argument(
        "--brief",
        action="store_true",
        help="programs that live for seconds as well, a row for each",
    )
    given = parser.parse_args(argv)
    wanted = {"node": given.node, "namespace": given.namespace, "labelSelector": given.selector}
    query = {key: value for key, value in wanted.items() if value is not None}
    api = arguments.brain(given)
    if query:
        document = api.get(TOPOLOGY_PATH, query)
        nodes = _found(decode(document), given)
        text = view(nodes, brief=given.brief) if nodes else ""
    else:
        document = api.get(NODES_PATH)
        listing = decode_list(document)
        text = list_view(listing)
        if len(listing) == 1:
            document = api.get(TOPOLOGY_PATH, {"node": listing[0].name})
            text = view(decode(document), brief=given.brief)
    arguments.write(document, given.output, lambda: text)
    return ExitCode.OK


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
