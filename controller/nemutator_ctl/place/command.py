"""`nemutator place`, from its command line to its output."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.yaml_documents import DocumentError, parsed

from nemutator_ctl import arguments
from nemutator_ctl.place.view import PLACEMENT_PATH, decode, details, first_pod, overview

REMEDY = "give the file of a Pod, or of a workload that makes pods"


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "place",
        "Say which nodes suit a pod best, and why, in words. Nothing is created.",
        output=True,
        remote=True,
    )
    parser.add_argument(
        "file", metavar="FILE", help="manifest of a pod or a workload; -: standard input"
    )
    parser.add_argument("-n", "--namespace", help="of a manifest that names none: default")
    parser.add_argument("--explain", action="store_true", help="every factor of the best nodes")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="nodes at most: 10")
    given = parser.parse_args(argv)
    pod = _pod(given)
    document = arguments.brain(given).post(PLACEMENT_PATH, pod, query={"limit": str(given.limit)})
    view = details if given.explain else overview
    arguments.write(document, given.output, lambda: view(decode(document)))
    return ExitCode.OK


def _pod(given: argparse.Namespace) -> dict[str, Any]:
    try:
        content = sys.stdin.buffer.read() if given.file == "-" else Path(given.file).read_bytes()
        documents = parsed(content)
    except (OSError, DocumentError) as error:
        raise OperatorError(f"{given.file}: {error}", remedy=REMEDY, code=ExitCode.USAGE) from error
    pod = first_pod(documents, namespace=given.namespace or "default")
    if pod is not None:
        return pod
    raise OperatorError(f"{given.file}: there is no pod in it", remedy=REMEDY, code=ExitCode.USAGE)
