"""`nemutator rollback`, from its command line to its end."""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.api import Api
from nemutator_ctl.confirmation import ask
from nemutator_ctl.rollback.bulk import ROLLBACK_PATH, BulkRollback, summary
from nemutator_ctl.rollback.selection import SELECTING, add_selection, is_bulk, query_of
from nemutator_ctl.rollback.view import (
    decode_plan,
    decode_rollback,
    is_pod,
    plan_view,
    rollback_view,
)

MARKED = "marked"

PATIENCE_S = 60.0
"""An API server may be slow, and it is asked several times."""


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "rollback",
        "Roll a mutation back; what others have changed since then stays.",
        output=True,
        remote=True,
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="as `nemutator mutations` shows it")
    parser.add_argument(
        "--pod",
        metavar="NS/NAME",
        help="the mutation that this pod is stamped with, in place of ID",
    )
    parser.add_argument("--plan", action="store_true", help="only say what would be done")
    parser.add_argument(
        "--evict",
        action="store_true",
        help="evict the pod, when a new one is the only way to be rid of a change",
    )
    parser.add_argument(
        "--evictions",
        type=int,
        default=1,
        metavar="N",
        help="of many, so many pods of one workload in one run (1)",
    )
    parser.add_argument(
        "--dry-run", choices=("server",), help="of many, have the API server check every change"
    )
    add_selection(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask")
    given = parser.parse_args(argv)
    parser.refuse_empty(given, "pod", *SELECTING)
    if given.id == "":
        parser.error("the ID is empty: `nemutator mutations` shows those that there are")
    if (given.id is not None) + (given.pod is not None) + is_bulk(given) != 1:
        parser.error(
            "name one mutation, by its ID or its pod with --pod, or say which with --all, …"
        )
    if given.dry_run and not is_bulk(given):
        parser.error("--dry-run is for many: see what would be done to one with --plan")
    if given.output != "table" and is_bulk(given):
        parser.error("--output is for one mutation: what is done to many is told line by line")
    if given.pod is not None and not is_pod(given.pod):
        parser.error(f"--pod {given.pod!r}: write it as NAMESPACE/NAME")
    brain = arguments.brain(given, timeout_s=PATIENCE_S)
    if is_bulk(given):
        try:
            query = query_of(given, time.time())
        except ValueError as error:
            parser.error(str(error))
        return _roll_back_many(brain, query, given)
    path = ROLLBACK_PATH.format(MARKED if given.id is None else quote(given.id, safe=""))
    query = {"evict": str(given.evict).lower()} | ({"pod": given.pod} if given.pod else {})
    if given.plan or not given.yes:
        document = brain.post(path, query={**query, "plan": "true"})
        planned = decode_plan(document)
        text = plan_view(planned)
        if given.plan or not planned.does_something:
            arguments.write(document, given.output, lambda: text)
            # A plan alone is not expected to change anything.
            kept = planned.keeps_something and not given.plan
            return ExitCode.FAILED if kept else ExitCode.OK
        ask(text, "Roll it back?")
    document = brain.post(path, query=query)
    done = decode_rollback(document)
    arguments.write(document, given.output, lambda: rollback_view(done))
    return ExitCode.OK if done.is_whole else ExitCode.FAILED


def _roll_back_many(brain: Api, query: Mapping[str, str], given: argparse.Namespace) -> int:
    only = {"policy": given.policy} if given.policy else {}
    bulk = BulkRollback(brain, evictions=given.evictions if given.evict else 0, only=only)
    planned = bulk.plan(bulk.choose(query))
    text = summary(planned, bulk.evictions)
    if given.dry_run:
        sys.stdout.write(text)
        return ExitCode.FAILED if bulk.rehearse(planned, sys.stdout.write) else ExitCode.OK
    if given.plan or all(one.plan is None for one in planned):
        sys.stdout.write(text)
        return ExitCode.OK
    if not given.yes:
        ask(text, "Roll it back?")
    return ExitCode.FAILED if bulk.run(planned, sys.stdout.write) else ExitCode.OK
