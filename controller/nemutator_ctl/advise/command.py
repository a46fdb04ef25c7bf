"""`nemutator advise`, from its command line to its output."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.prices import PriceError, Prices
from nemutator_controller.yaml_documents import DocumentError, parsed

from nemutator_ctl import arguments
from nemutator_ctl.advise.manifests import manifest_parts
from nemutator_ctl.advise.options import add_options
from nemutator_ctl.advise.prices import prices_in, totals_document, totals_view
from nemutator_ctl.advise.view import ADVICE_PATH, AdviceRow, decode, view
from nemutator_ctl.documents import Output, rendered
from nemutator_ctl.terminal_text import visible


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "advise",
        "Say what containers should request, from what they used so far.",
        output=True,
        remote=True,
        wide=True,
        more="patch",
    )
    parser.add_argument("-n", "--namespace", help="only this one: a top-level cgroup, off clusters")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--patch",
        action="store_true",
        help="print what to apply to workloads with firm advice: kubectl apply --server-side -f -",
    )
    what.add_argument("--totals", action="store_true", help="what each namespace wastes")
    parser.add_argument(
        "--prices",
        type=Path,
        metavar="FILE",
        help="what a core and a GiB cost an hour (core_hour, gib_hour, currency): totals in money, too",
    )
    add_options(parser)
    given = parser.parse_args(argv)
    if given.output == "patch":
        if given.totals:
            parser.error("argument --totals: not allowed with -o patch")
        given.patch, given.output = True, Output.TABLE.value
    if given.recording_rules:
        from nemutator_controller.sizing.sources.queries import recording_rules

        arguments.write(None, Output.TABLE, lambda: rendered(recording_rules(), Output.YAML))
        return ExitCode.OK
    prices = None if given.prices is None else _prices(given.prices)
    document = _document(given)
    if given.patch:
        _write_patch(decode(document), given.output)
    elif given.totals or prices is not None:
        rows = decode(document)
        arguments.write(
            totals_document(rows, prices), given.output, lambda: totals_view(rows, prices)
        )
    else:
        wide = given.output == Output.WIDE.value
        recorded = given.prometheus is not None or given.datadog is not None
        arguments.write(
            document,
            given.output,
            lambda: view(decode(document), namespace=given.namespace, wide=wide, recorded=recorded),
        )
    return ExitCode.OK


def _document(given: argparse.Namespace) -> object:
    if given.prometheus is not None and given.datadog is not None:
        raise OperatorError(
            "a Prometheus and Datadog are named", remedy="name one of them", code=ExitCode.USAGE
        )
    if given.prometheus is not None:
        from nemutator_ctl.advise.from_prometheus import recommended_by_prometheus
        from nemutator_ctl.advise.from_records import document_of

        return document_of(recommended_by_prometheus(given))
    if given.datadog is not None:
        from nemutator_ctl.advise.from_datadog import recommended_by_datadog
        from nemutator_ctl.advise.from_records import document_of

        return document_of(recommended_by_datadog(given))
    query = {} if given.namespace is None else {"namespace": given.namespace}
    return arguments.brain(given).get(ADVICE_PATH, query)


def _write_patch(rows: Sequence[AdviceRow], output: str) -> None:
    parts, left = manifest_parts(rows)
    if output == Output.JSON.value:
        whole = {"apiVersion": "v1", "kind": "List", "items": parts}
        sys.stdout.write(rendered(whole, Output.JSON))
    else:
        for part in parts:
            sys.stdout.write("---\n" + rendered(part, Output.YAML))
    if left:
        sys.stderr.write(
            f"nemutator: {left} rows left out: without firm advice, or of no workload with a template\n"
        )


def _prices(file: Path) -> Prices:
    try:
        return prices_in(parsed(arguments.content(file)))
    except (DocumentError, PriceError) as error:
        raise OperatorError(
            visible(f"{file}: {error}", limit=300),
            remedy="write core_hour: 0.03, gib_hour: 0.004 and currency: EUR, one to a line",
            code=ExitCode.USAGE,
        ) from error
