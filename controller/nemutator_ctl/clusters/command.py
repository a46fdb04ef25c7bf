"""`nemutator clusters`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.clusters.view import cluster_answer, view

PATH = "/api/v1/clusters"


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "clusters",
        "Show the clusters on one PostgreSQL, and the totals over all.",
        output=True,
        remote=True,
        watch=True,
    )
    given = parser.parse_args(argv)
    document = arguments.brain(given).get(PATH, {})
    arguments.write(document, given.output, lambda: view(cluster_answer(document)))
    return ExitCode.OK
