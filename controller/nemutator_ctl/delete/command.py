"""`nemutator delete`, from its command line to its output."""

import sys
from collections.abc import Sequence
from urllib.parse import urlencode

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.delete.view import kind_of, view
from nemutator_ctl.local_api import LocalApi

OBJECTS_PATH = "/api/v1/objects"


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "delete", "Delete a policy or a manifest that was applied without a cluster.", output=False
    )
    parser.add_argument("object", metavar="KIND/NAME", help="like MutationPolicy/defaults")
    parser.add_argument(
        "-n", "--namespace", default="default", metavar="NAMESPACE", help="where it is (default)"
    )
    given = parser.parse_args(argv)
    kind, _, name = given.object.partition("/")
    if not kind or not name:
        parser.error(f"{given.object!r}: write it as KIND/NAME")
    query = urlencode({"kind": kind_of(kind), "namespace": given.namespace, "name": name})
    answer = LocalApi(arguments.directory(given)).delete(f"{OBJECTS_PATH}?{query}")
    sys.stdout.write(view(answer))
    return ExitCode.OK
