"""`nemutator token list|set|remove|test`, from its command line to its output."""

import argparse
import sys
from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.documents import add_output
from nemutator_ctl.tokens.view import TOKENS_PATH, changed, decode, overview, trial


def main(argv: Sequence[str]) -> int:
    given = _parser().parse_args(argv)
    brain = arguments.brain(given)
    match given.what:
        case "list":
            listed = brain.get(TOKENS_PATH, {"limit": str(given.limit)})
            arguments.write(listed, given.output, lambda: overview(decode(listed)))
        case "test":
            text, found = trial(given.key, decode(brain.get(TOKENS_PATH, {"key": given.key})))
            sys.stdout.write(text)
            return ExitCode.OK if found else ExitCode.FAILED
        case "set" | "remove":
            value = given.value if given.what == "set" else None
            answer = brain.post(TOKENS_PATH, {"key": given.key, "value": value})
            sys.stdout.write(changed(answer, removed=value is None))
    return ExitCode.OK


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser(
        "token", "Show and change the values of placeholders.", output=False, remote=True
    )
    verbs = parser.add_subparsers(dest="what", required=True, metavar="list|set|remove|test")
    listing = verbs.add_parser("list", help="print the tokens, where they are kept, and their age")
    listing.add_argument("--limit", type=int, default=100, help="the first so many by key (100)")
    add_output(listing, name=True)
    setting = verbs.add_parser("set", help="write a token into the store")
    removing = verbs.add_parser("remove", help="remove a token from the store")
    testing = verbs.add_parser("test", help="print what a placeholder would become")
    for verb in (setting, removing, testing):
        verb.add_argument("key", metavar="KEY", help="like nemu_label_value_team")
    setting.add_argument("value", metavar="VALUE")
    return parser
