"""`nemutator size`, from its command line to its end."""

from collections.abc import Sequence
from urllib.parse import quote

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.confirmation import ask
from nemutator_ctl.local_api import LocalApi
from nemutator_ctl.size.view import decode, view

SIZE_PATH = "/api/v1/units/{}/size"

PATIENCE_S = 90.0
"""systemd is asked twice, and reads all of its files."""


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "size",
        "Give a unit of systemd what is advised, as a drop-in; `nemutator rollback` takes it back.",
        output=True,
    )
    parser.add_argument("unit", metavar="UNIT", help="a service, as `nemutator advise` shows it")
    parser.add_argument("--plan", action="store_true", help="only say what would be written")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    given = parser.parse_args(argv)
    brain = LocalApi(arguments.directory(given), timeout_s=PATIENCE_S)
    path = SIZE_PATH.format(quote(given.unit.removeprefix("unit/"), safe=""))
    if given.plan or not given.yes:
        document = brain.post(path, query={"plan": "true"})
        planned = decode(document)
        if given.plan or planned.is_done:
            arguments.write(document, given.output, lambda: view(planned))
            return ExitCode.OK
        ask(view(planned), "Write it?")
    document = brain.post(path)
    sized = decode(document)
    arguments.write(document, given.output, lambda: view(sized))
    return ExitCode.OK
