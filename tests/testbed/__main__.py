"""python -m tests.testbed build|shell|down: what `make testbed` and its relatives do."""

import argparse
import os
import sys

from tests.testbed.building import making
from tests.testbed.building.cache import Cache, MissingPartError, directory
from tests.testbed.building.made import FOR_DRILLS, PARTS
from tests.testbed.running import leftovers
from tests.testbed.shell import open_shell


def say(line: str) -> None:
    print(f"testbed: {line}", file=sys.stderr, flush=True)


def build(only: str | None, *, drills: bool) -> int:
    """Makes what is not there yet; 1 when something could not be made."""
    names = [only] if only else [name for name in PARTS if drills or name not in FOR_DRILLS]
    if not making.make_all(names, Cache(directory()), say):
        return 1
    print("testbed: ready")
    return 0


def shell(arguments: list[str]) -> int:
    """Opens a shell beside the running parts; 1 when they are not built."""
    try:
        return open_shell(arguments, say)
    except MissingPartError as missing:
        say(str(missing))
        return 1


def down() -> int:
    """Ends live runs of this user, and cleans what dead ones have left."""
    for run in list(leftovers.live_runs()):
        say(f"ending {run}")
        leftovers.end(run)
    with leftovers.nobody_else_begins():
        for run in leftovers.clean_dead_runs():
            say(f"cleaned {run}")
    say(f"nothing runs; what was built stays in {directory()}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.testbed", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="make once what the tests' real parts are made of")
    building.add_argument("--only", choices=list(PARTS), help="this part alone")
    building.add_argument("--drills", action="store_true", help="also what drills alone need")
    commands.add_parser("shell", help="open a shell; what follows is for it: -c 'kubectl …'")
    commands.add_parser("down", help="end and clean every run of this user")
    words = sys.argv[1:]
    # What follows `shell` is the shell's, options too: argparse would take those for its own.
    arguments = parser.parse_args(words[:1] if words[:1] == ["shell"] else words)
    try:
        match arguments.command:
            case "build":
                return build(arguments.only, drills=arguments.drills)
            case "shell":
                return shell(words[1:])
            case _:
                return down()
    except KeyboardInterrupt:
        say("interrupted; what was finished is kept")
        return 128 + 2


if __name__ == "__main__":
    os.umask(0o022)  # what is built is read by the users that some parts run as
    sys.exit(main())
