"""`nemutator workloads`, from its command line to its output."""

import json
import sys
from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.api import Api
from nemutator_ctl.documents import Output
from nemutator_ctl.inventory_answers import (
    INVENTORY_WORKLOADS,
    namespace_answer,
    workload_answer,
)
from nemutator_ctl.workloads.legacy import TreeAnswer, legacy_map, tree_answer
from nemutator_ctl.workloads.view import namespaces_view, view

PAGE = "50"
"""Workloads with all their pods, in one answer."""


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "workloads",
        "Show workloads: replicas, what they request, use and waste.",
        output=True,
        remote=True,
        watch=True,
        wide=True,
    )
    parser.add_argument("-n", "--namespace", help="only this one: a top-level cgroup, off clusters")
    parser.add_argument("-l", "--selector", help="only workloads with these labels")
    parser.add_argument(
        "--field-selector", help="only those: kind=Deployment, ready=false, restarts>3, …"
    )
    parser.add_argument(
        "--by", metavar="ORDER", help="name, cpu, memory, waste, network, requests or restarts"
    )
    parser.add_argument("--limit", help="at most so many")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--namespaces", action="store_true", help="only the sums of each namespace")
    shape.add_argument(
        "--format",
        choices=["legacy"],
        help="legacy: deployments, replica sets and pods in the shape of the first nemutator, as JSON",
    )
    arguments.add_cluster(parser)
    given = parser.parse_args(argv)
    if given.cluster is not None and (given.format or given.namespaces):
        parser.error("--cluster: of another cluster there is the list alone")
    query = arguments.present(
        namespace=given.namespace,
        labelSelector=given.selector,
        fieldSelector=given.field_selector,
        orderBy=given.by,
        limit=given.limit,
    )
    brain = arguments.brain(given)
    if given.format == "legacy":
        exported = legacy_map(_pages(brain, query))
        sys.stdout.write(json.dumps(exported, indent=2) + "\n")
        return ExitCode.OK
    if given.namespaces:
        document = brain.get(INVENTORY_WORKLOADS, {**query, "as": "namespaces"})
        arguments.write(document, given.output, lambda: namespaces_view(namespace_answer(document)))
        return ExitCode.OK
    document = brain.get(arguments.of_cluster(given, INVENTORY_WORKLOADS), query)
    wide = given.output == Output.WIDE
    arguments.write(document, given.output, lambda: view(workload_answer(document), wide=wide))
    return ExitCode.OK


def _pages(brain: Api, query: dict[str, str]) -> list[TreeAnswer]:
    """All pages of the tree."""
    pages, after = [], ""
    while True:
        asked = {"limit": PAGE, **query, "as": "tree", "continue": after}
        page = tree_answer(brain.get(INVENTORY_WORKLOADS, asked))
        pages.append(page)
        after = page.next
        if not after or "limit" in query:
            return pages
