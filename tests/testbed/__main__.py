"""python -m tests.testbed build: what `make testbed` and its relatives do."""

import argparse
import os
import sys

from tests.testbed.building import making
from tests.testbed.building.cache import Cache, directory
from tests.testbed.building.made import PARTS


def say(line: str) -> None:
    print(f"testbed: {line}", file=sys.stderr, flush=True)


def build(only: str | None) -> int:
    """Makes what is not there yet; 1 when something could not be made."""
    if not making.make_all([only] if only else list(PARTS), Cache(directory()), say):
        return 1
    print("testbed: ready")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.testbed", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="make once what the tests' real parts are made of")
    building.add_argument("--only", choices=list(PARTS), help="this part alone")
    arguments = parser.parse_args()
    try:
        return build(arguments.only)
    except KeyboardInterrupt:
        say("interrupted; what was finished is kept")
        return 128 + 2


if __name__ == "__main__":
    os.umask(0o022)  # what is built is read by the users that some parts run as
    sys.exit(main())
