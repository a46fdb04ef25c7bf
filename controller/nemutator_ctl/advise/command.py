"""`nemutator advise`, from its command line to its output."""

import argparse
from collections.abc import Sequence

from nemutator_common.errors import ExitCode

from nemutator_ctl import arguments
from nemutator_ctl.advise.options import add_options
from nemutator_ctl.advise.view import ADVICE_PATH, decode, view
from nemutator_ctl.documents import Output, rendered


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "advise",
        "Say what containers should request, from what they used so far.",
        output=True,
        remote=True,
        wide=True,
    )
    parser.add_argument("-n", "--namespace", help="only this one: a top-level cgroup, off clusters")
    add_options(parser)
    given = parser.parse_args(argv)
    if given.recording_rules:
        from nemutator_controller.sizing.sources.queries import recording_rules

        arguments.write(None, Output.TABLE, lambda: rendered(recording_rules(), Output.YAML))
        return ExitCode.OK
    document = _document(given)
    wide = given.output == Output.WIDE.value
    arguments.write(
        document,
        given.output,
        lambda: view(decode(document), namespace=given.namespace, wide=wide),
    )
    return ExitCode.OK


def _document(given: argparse.Namespace) -> object:
    if given.prometheus is not None:
        from nemutator_ctl.advise.from_prometheus import document_of, recommended

        return document_of(recommended(given))
    query = {} if given.namespace is None else {"namespace": given.namespace}
    return arguments.brain(given).get(ADVICE_PATH, query)
