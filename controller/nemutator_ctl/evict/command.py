"""`nemutator evict`, from its command line to its end."""

import argparse
import time
from collections.abc import Sequence
from urllib.parse import quote

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.api import Api
from nemutator_ctl.confirmation import ask
from nemutator_ctl.evict.selection import WORST, selector_of
from nemutator_ctl.evict.view import (
    EVICTIONS_PATH,
    decode_list,
    decode_plan,
    decode_request,
    instead_of_yes,
    list_view,
    plan_view,
    request_view,
)
from nemutator_ctl.parsers import Parser

PATIENCE_S = 60.0
AGAIN_S = 1.0
"""Until what is waited for is asked for again."""


def main(argv: Sequence[str]) -> int:
    parser = _parser()
    given = parser.parse_args(argv)
    parser.refuse_empty(given, "namespace", "selector", "node", "planned")
    if "" in given.pods:
        parser.error("the name of a pod is empty: write it as NAMESPACE/NAME")
    brain = arguments.brain(given, timeout_s=PATIENCE_S)
    if given.list:
        document = brain.get(EVICTIONS_PATH, _narrowed(given))
        arguments.write(document, given.output, lambda: list_view(decode_list(document)))
        return ExitCode.OK
    if given.show is not None:
        return _show(brain, given, given.show)
    if given.cancel is not None:
        document = brain.post(f"{EVICTIONS_PATH}/{quote(given.cancel, safe='')}/cancel")
        arguments.write(document, given.output, lambda: request_view(decode_request(document)))
        return ExitCode.OK
    if given.reason is None and not given.plan:
        parser.error("say why with --reason: those who own the pods read it")
    return _evict(brain, given)


def _evict(brain: Api, given: argparse.Namespace) -> int:
    asked = {
        "pods": given.pods,
        "namespace": given.namespace or "",
        "selector": selector_of(given.selector or "", given.neighbour_grade),
        "node": given.node or "",
        "all": given.all,
        "reason": given.reason or "",
        "withinS": given.within,
    }
    query = _narrowed(given)
    plan_id = given.planned or ""
    if not plan_id:
        document = brain.post(EVICTIONS_PATH, {**asked, "planOnly": True}, query=query)
        planned = decode_plan(document)
        text = plan_view(planned)
        if given.plan or not planned.does_something:
            arguments.write(document, given.output, lambda: text)
            return ExitCode.OK if given.plan else ExitCode.FAILED
        if planned.takes_all or not given.yes:
            ask(text, "Evict them?", or_say=instead_of_yes(planned))
        plan_id = planned.id
    document = brain.post(EVICTIONS_PATH, {**asked, "plan": plan_id}, query=query)
    if given.wait:
        return _show(brain, given, decode_request(document).id)
    arguments.write(document, given.output, lambda: request_view(decode_request(document)))
    return ExitCode.OK


def _show(brain: Api, given: argparse.Namespace, id_: str) -> int:
    """One request; with --wait, once nothing of it is left to do."""
    while True:
        document = brain.get(f"{EVICTIONS_PATH}/{quote(id_, safe='')}", _narrowed(given))
        found = decode_request(document)
        if not given.wait or not found.goes_on:
            break
        time.sleep(AGAIN_S)
    arguments.write(document, given.output, lambda: request_view(found))
    return ExitCode.OK if found.is_whole or not given.wait else ExitCode.FAILED


def _narrowed(given: argparse.Namespace) -> dict[str, str]:
    """Who has a RoleBinding only may ask about that namespace."""
    return {"namespace": given.namespace} if given.namespace else {}


def _parser() -> Parser:
    parser = arguments.parser(
        "evict",
        "Evict pods, one after another within budgets, so that their workloads make others.",
        output=True,
        remote=True,
    )
    parser.add_argument("pods", nargs="*", metavar="POD", help="NAMESPACE/NAME, or NAME with -n")
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="pods of this one only")
    parser.add_argument("-l", "--selector", metavar="LABELS", help="pods like these: app=web")
    parser.add_argument("--node", metavar="NAME", help="pods on this node, without DaemonSets'")
    parser.add_argument(
        "--neighbour-grade",
        type=int,
        choices=range(1, WORST + 1),
        metavar="N",
        help="pods from which others on their node suffer now, by grade N or more",
    )
    parser.add_argument("--all", action="store_true", help="even if no pod is left")
    parser.add_argument("--reason", metavar="TEXT", help="why, for those who own the pods")
    parser.add_argument(
        "--within",
        type=arguments.seconds,
        default=3600.0,
        metavar="SECONDS",
        help="what has not happened by then does not happen: 3600",
    )
    parser.add_argument("--plan", action="store_true", help="only say what would be done")
    parser.add_argument(
        "--planned", metavar="ID", help="do not ask, if the plan is still the one with this id"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask; not for every pod there is")
    parser.add_argument("--wait", action="store_true", help="until nothing is left to do")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--list", action="store_true", help="show earlier requests")
    which.add_argument("--show", metavar="ID", help="show one request and its pods")
    which.add_argument("--cancel", metavar="ID", help="leave the pods that are still there")
    return parser
