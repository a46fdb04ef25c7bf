"""`nemutator grants`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.grants.view import GRANTS_PATH, decode, overview


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "grants",
        "Show who was given or denied which secret, never a value.",
        output=True,
        remote=True,
        watch=True,
    )
    parser.add_argument("--path", help="only those of this path of Vault, on all nodes")
    parser.add_argument("-n", "--namespace", help="only those of pods of this one")
    parser.add_argument("--limit", type=int, default=50, help="the newest so many (50)")
    given = parser.parse_args(argv)
    wanted = {"limit": str(given.limit), "path": given.path, "namespace": given.namespace}
    query = {name: value for name, value in wanted.items() if value is not None}
    listed = arguments.brain(given).get(GRANTS_PATH, query)
    arguments.write(listed, given.output, lambda: overview(decode(listed)))
    return ExitCode.OK
