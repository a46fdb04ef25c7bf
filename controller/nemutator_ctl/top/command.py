"""`nemutator top`, from its command line to its output."""

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.documents import Output
from nemutator_ctl.inventory_answers import (
    INVENTORY_NODES,
    INVENTORY_WORKLOADS,
    node_answer,
    workload_answer,
)
from nemutator_ctl.node_list.view import view as nodes_view
from nemutator_ctl.top.view import view

CLEAR = "\x1b[H\x1b[2J"
SHORTEST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 86_400.0


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "top", "Show what uses most now, the largest first.", output=True, remote=True, wide=True
    )
    parser.add_argument("what", nargs="?", choices=["workloads", "nodes"], default="workloads")
    parser.add_argument("-n", "--namespace", help="only this one: a top-level cgroup, off clusters")
    parser.add_argument("-l", "--selector", help="only those with these labels")
    parser.add_argument(
        "--by",
        metavar="ORDER",
        default="cpu",
        help="cpu (the default) or memory; of workloads also waste, network, requests, restarts",
    )
    parser.add_argument("--limit", default="20", help="at most so many (20)")
    parser.add_argument(
        "--every", type=_pause, metavar="SECONDS", help="again and again, until Ctrl-C"
    )
    arguments.add_cluster(parser)
    given = parser.parse_args(argv)
    query = arguments.present(
        namespace=given.namespace,
        labelSelector=given.selector,
        orderBy=given.by,
        limit=given.limit,
    )
    is_nodes, wide = given.what == "nodes", given.output == Output.WIDE
    brain = arguments.brain(given)
    path = arguments.of_cluster(given, INVENTORY_NODES if is_nodes else INVENTORY_WORKLOADS)
    while True:
        document = brain.get(path, query)
        if given.every and sys.stdout.isatty():
            sys.stdout.write(CLEAR)
        show = partial(_nodes if is_nodes else _workloads, document, wide=wide)
        arguments.write(document, given.output, show)
        if not given.every:
            return ExitCode.OK
        sys.stdout.flush()
        time.sleep(given.every)


def _pause(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST_PAUSE_S:
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected a number of seconds, up to {LONGEST_PAUSE_S:.0f}"
        )
    return max(SHORTEST_PAUSE_S, seconds)


def _nodes(document: object, *, wide: bool) -> str:
    return nodes_view(node_answer(document), wide=wide)


def _workloads(document: object, *, wide: bool) -> str:
    return view(workload_answer(document), wide=wide)
