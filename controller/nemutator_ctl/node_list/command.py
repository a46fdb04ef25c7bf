"""`nemutator nodes`, from its command line to its output."""

from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.documents import Output
from nemutator_ctl.inventory_answers import INVENTORY_NODES, node_answer
from nemutator_ctl.node_list.view import view
from nemutator_ctl.whole_lists import whole_list


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "nodes",
        "Show what nodes can take, what is requested of them, and what they use.",
        output=True,
        remote=True,
        watch=True,
        wide=True,
    )
    parser.add_argument("-l", "--selector", help="only nodes with these labels")
    parser.add_argument("--field-selector", help="only those: ready=false, stale=true, pods>100, …")
    parser.add_argument(
        "--by", metavar="ORDER", help="name, cpu, memory, requested, pods or trouble"
    )
    parser.add_argument("--limit", help="at most so many")
    arguments.add_cluster(parser)
    given = parser.parse_args(argv)
    query = arguments.present(
        labelSelector=given.selector,
        fieldSelector=given.field_selector,
        orderBy=given.by,
        limit=given.limit,
    )
    path = arguments.of_cluster(given, INVENTORY_NODES)
    document = whole_list(arguments.brain(given), path, query)
    wide, chosen = given.output == Output.WIDE, bool(given.selector or given.field_selector)
    arguments.write(
        document, given.output, lambda: view(node_answer(document), wide=wide, chosen=chosen)
    )
    return ExitCode.OK
