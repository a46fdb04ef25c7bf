"""`nemutator topology`, from its command line to its output."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
from nemutator_ctl.documents import Output
from nemutator_ctl.long_documents import rendered_in_parts
from nemutator_ctl.nodes import NODES_PATH, TOPOLOGY_PATH, decode, decode_list
from nemutator_ctl.terminal_text import visible
from nemutator_ctl.topology.pages import Seen, pages
from nemutator_ctl.topology.view import list_view, nothing_found, view
from nemutator_ctl.whole_lists import whole_list

OF_ONE_PAGE = ("nodes", "next", "remaining")
"""What the document of all pages does not have from the first one."""


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
        _show(pages(api, query), given)
        return ExitCode.OK
    document = whole_list(api, NODES_PATH, {})
    listing = decode_list(document)
    text = list_view(listing)
    if len(listing) == 1:
        document = api.get(TOPOLOGY_PATH, {"node": listing[0].name})
        text = view(decode(document), brief=given.brief)
    arguments.write(document, given.output, lambda: text)
    return ExitCode.OK


def _show(answered: Iterator[dict[str, Any]], given: argparse.Namespace) -> None:
    """Write each page as it comes, and then a message where there is nothing of what was asked for."""
    seen, output = Seen(), Output(given.output)
    shown = map(seen.take, answered)
    first = next(shown)
    if given.node is not None and not first.nodes:
        raise OperatorError(
            f"no node called {visible(given.node, limit=64)} reports here",
            remedy="`nemutator topology` lists the nodes that do",
            code=ExitCode.FAILED,
        )
    whole = chain([first], shown)
    parts: Iterator[str]
    narrows = given.namespace is not None or given.selector is not None
    if output is Output.TABLE or output is Output.WIDE:
        nodes = (node for page in whole for node in (page.found if narrows else page.nodes))
        parts = (
            ("\n" if number else "") + view([node], brief=given.brief)
            for number, node in enumerate(nodes)
        )
    else:
        head = {key: value for key, value in first.document.items() if key not in OF_ONE_PAGE}
        items = (node for page in whole for node in page.document["nodes"])
        parts = rendered_in_parts(head, "nodes", items, output)
    sys.stdout.writelines(parts)
    if narrows and not seen.anything:
        # As with kubectl, finding nothing is no failure; but the reason is shown.
        there = seen.namespaces if seen.any_node else None
        sys.stderr.write(nothing_found(there, namespace=given.namespace, selector=given.selector))
