"""`nemutator roll`, from its command line to its end."""

import argparse
import time
from collections.abc import Sequence
from urllib.parse import quote

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.api import Api
from nemutator_ctl.confirmation import ask
from nemutator_ctl.roll.view import (
    ROLLS_PATH,
    decode_plan,
    decode_roll,
    decode_rolls,
    plan_view,
    roll_view,
    rolls_view,
)

PATIENCE_S = 60.0
AGAIN_S = 2.0
"""Until what is waited for is asked for again."""


def main(argv: Sequence[str]) -> int:
    parser = _parser()
    given = parser.parse_args(argv)
    brain = arguments.brain(given, timeout_s=PATIENCE_S)
    query = {"namespace": given.namespace} if given.namespace else {}
    if given.list:
        document = brain.get(ROLLS_PATH, query)
        arguments.write(document, given.output, lambda: rolls_view(decode_rolls(document)))
        return ExitCode.OK
    if given.show is not None:
        return _show(brain, given, given.show, query)
    if given.stop is not None:
        document = brain.post(f"{ROLLS_PATH}/{quote(given.stop, safe='')}/stop", query=query)
        arguments.write(document, given.output, lambda: roll_view(decode_roll(document)))
        return ExitCode.OK
    if given.workload is None or given.namespace is None:
        parser.error("name the workload and its namespace: deployment/web -n shop")
    if given.reason is None and not given.plan:
        parser.error("say why with --reason: those who own the workload read it")
    return _roll(brain, given, query)


def _roll(brain: Api, given: argparse.Namespace, query: dict[str, str]) -> int:
    asked = {
        "workload": given.workload,
        "namespace": given.namespace,
        "reason": given.reason or "",
        "deadlineS": given.deadline,
        "window": given.window,
        "offPeak": given.off_peak,
    }
    if given.plan or not given.yes:
        document = brain.post(ROLLS_PATH, {**asked, "planOnly": True}, query=query)
        planned = decode_plan(document)
        text = plan_view(planned)
        if given.plan or planned.why_not:
            arguments.write(document, given.output, lambda: text)
            return ExitCode.FAILED if planned.why_not else ExitCode.OK
        ask(text, "Roll it?")
    document = brain.post(ROLLS_PATH, asked, query=query)
    if given.wait:
        return _show(brain, given, decode_roll(document).id, query)
    arguments.write(document, given.output, lambda: roll_view(decode_roll(document)))
    return ExitCode.OK


def _show(brain: Api, given: argparse.Namespace, id_: str, query: dict[str, str]) -> int:
    """One roll; with --wait, once it is finished."""
    while True:
        document = brain.get(f"{ROLLS_PATH}/{quote(id_, safe='')}", query)
        found = decode_roll(document)
        if not given.wait or not found.open:
            break
        time.sleep(AGAIN_S)
    arguments.write(document, given.output, lambda: roll_view(found))
    return ExitCode.FAILED if given.wait and found.state != "done" else ExitCode.OK


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser(
        "roll",
        "Make a workload's pods anew, one at a time; stop at the first that does not become ready.",
        output=True,
        remote=True,
    )
    parser.add_argument(
        "workload",
        nargs="?",
        metavar="KIND/NAME",
        help="deployment/web, statefulset/db or daemonset/log",
    )
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="its namespace")
    parser.add_argument("--reason", metavar="TEXT", help="why, for those who own the workload")
    parser.add_argument(
        "--deadline",
        type=arguments.seconds,
        default=300.0,
        metavar="SECONDS",
        help="within which each pod must be available: 300",
    )
    parser.add_argument(
        "--window", default="", metavar="HH:MM-HH:MM", help="only then, in UTC: 22:00-05:00"
    )
    parser.add_argument(
        "--off-peak",
        action="store_true",
        help="only while the workload's season is off-peak, or it has none",
    )
    parser.add_argument("--plan", action="store_true", help="only say what would be done")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--wait", action="store_true", help="until it is finished")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--list", action="store_true", help="show earlier rolls")
    which.add_argument("--show", metavar="ID", help="show one of them")
    which.add_argument("--stop", metavar="ID", help="end one where it is")
    return parser
