"""`nemutator secret set|get|delete|list|watch`, from its command line to its output.

A value is never an argument: every user of the machine can read those of every process.
"""

import argparse
import getpass
import random
import sys
import time
from collections.abc import Sequence

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_init.answers import NeverError

from nemutator_ctl import arguments
from nemutator_ctl.leading_options import behind
from nemutator_ctl.local_api import LocalApi
from nemutator_ctl.parsers import Parser
from nemutator_ctl.secret.changes import Notice
from nemutator_ctl.secret.follower import follow
from nemutator_ctl.secret.view import (
    LARGEST_BYTES,
    STORE_PATH,
    open_rules,
    path_of,
    row,
    rows,
    value,
    value_from,
    view,
)


def main(argv: Sequence[str]) -> int:
    # Options may stand before the verb, too, as `nemutator --data-dir DIR secret list` has them.
    given = _parser().parse_args(behind(argv))
    store = LocalApi(arguments.directory(given), role=names.CREDENTIALS)
    match given.what:
        case "set":
            path = path_of(given.name)
            kept = {"vault": given.vault} if given.vault else {"value": _value(given.name)}
            wanted = {**kept, "rules": given.rule, "in_file": given.file}
            made = row(store.put(path, wanted))
            sys.stdout.write(
                f"{made.name}: version {made.version}, for {' or '.join(made.rules)}"
                f"{f', in {made.file}' if made.file else ''}"
                f"{f', from {made.vault} in Vault' if made.vault else ''}\n"
            )
            for rule in open_rules(made.rules):
                sys.stderr.write(
                    f"nemutator: every user who may run that program gets {made.name} by {rule}\n"
                    f"  remedy: name the user as well, like --rule uid=33,{rule}\n"
                )
        case "get":
            found = value(store.get(path_of(given.name))).reveal()
            # As files and variables have it, whatever encoding the terminal's language has.
            sys.stdout.buffer.write(found.encode("utf-8", "surrogatepass"))
            # A terminal's prompt belongs on a line of its own; a pipe gets the value and no more.
            sys.stdout.buffer.write(b"\n" if sys.stdout.isatty() else b"")
        case "delete":
            gone = row(store.delete(path_of(given.name)))
            sys.stdout.write(f"{gone.name}: deleted; its last version was {gone.version}\n")
        case "watch":
            _watch(given)
        case _:
            document = store.get(STORE_PATH)
            arguments.write(document, given.output, lambda: view(rows(document)))
    return ExitCode.OK


def _watch(given: argparse.Namespace) -> None:
    for name in given.name:
        path_of(name)
    agent = arguments.agent(given)
    try:
        follow(
            agent.stream,
            wanted=given.name,
            show=_show,
            wait_s=given.wait,
            now=time.monotonic,
            sleep=time.sleep,
            roll=random.SystemRandom().random,
            report=_report,
        )
    except NeverError as error:
        what, _, remedy = str(error).partition("; remedy: ")
        raise OperatorError(
            what,
            remedy=remedy or "see the log of `nemutator up`",
            code=ExitCode.UNREACHABLE,
        ) from None


def _show(change: Notice) -> None:
    sys.stdout.write(f"{change.name}: version {change.version}\n")
    sys.stdout.flush()


def _report(text: str) -> None:
    sys.stderr.write(f"nemutator secret: {text}\n")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="nemutator secret",
        description="Keep the secrets of a machine without Kubernetes, encrypted or in Vault, for the processes "
        "that rules name.",
        allow_abbrev=False,
    )
    verbs = parser.add_subparsers(dest="what", required=True, metavar="set|get|delete|list|watch")
    summaries = {
        "set": "Keep a value, read from standard input or at a prompt: a new version.",
        "get": "Print a value.",
        "delete": "Forget a value and its rules. No caller gets it any more.",
        "list": "Show names, versions and rules, and no value.",
        "watch": "Print each change of secrets that this user may have, until Ctrl-C; no value.",
    }
    for verb, summary in summaries.items():
        is_list = verb == "list"
        common = arguments.parser(f"secret {verb}", summary, output=is_list, name=is_list)
        sub = verbs.add_parser(
            verb, parents=[common], add_help=False, description=summary, help=summary
        )
        if verb == "watch":
            sub.add_argument("name", nargs="*", help="the secrets to watch; without any, all")
            arguments.add_agent(sub)
        elif verb != "list":
            sub.add_argument("name")
        if verb == "set":
            sub.add_argument(
                "--rule",
                action="append",
                default=[],
                metavar="RULE",
                help="who may have it: uid=1000, exe=/usr/bin/app, cgroup=/system.slice/app.service, "
                "or several with commas, which must all hold; more than one --rule: one must hold. "
                "Without any it stays as it was, and a new secret is for the user who sets it",
            )
            sub.add_argument(
                "--vault",
                metavar="PATH#KEY",
                help="no value is kept: whoever has the secret gets what Vault has there, like "
                "secret/shop/db#password, without #KEY all of it as JSON. The settings of credentials say "
                "where Vault is and how this machine logs in to it",
            )
            sub.add_argument(
                "--file",
                action=argparse.BooleanOptionalAction,
                help="keep it in a file, too, that only the user of its one rule (uid=) may read, and "
                "that follows each change; without either it stays as it was",
            )
    return parser


def _value(name: str) -> str:
    return value_from(_read(name)).reveal()


def _read(name: str) -> bytes:
    if sys.stdin.isatty():
        return getpass.getpass(f"value of {name}: ").encode()
    return sys.stdin.buffer.read(LARGEST_BYTES + 2)
