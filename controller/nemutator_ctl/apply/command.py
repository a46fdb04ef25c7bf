"""`nemutator apply`, from its command line to its output."""

import sys
from collections.abc import Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
from nemutator_ctl.apply.view import in_order, view
from nemutator_ctl.documents import DocumentError, Output, parsed, rendered
from nemutator_ctl.local_api import LocalApi

OBJECTS_PATH = "/api/v1/objects"


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "apply", "Apply policies and manifests, where there is no cluster.", output=True
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="policies and manifests (YAML)")
    given = parser.parse_args(argv)
    documents: list[object] = []
    for name in given.files:
        try:
            documents += parsed(arguments.content(Path(name)))
        except DocumentError as error:
            raise OperatorError(
                f"{name}: {error}", remedy="correct it and apply again", code=ExitCode.USAGE
            ) from error
    brain = LocalApi(arguments.directory(given))
    answers = [brain.post(OBJECTS_PATH, document) for document in in_order(documents)]
    output = Output(given.output)
    if output is Output.TABLE:
        sys.stdout.write("".join(map(view, answers)))
    else:
        sys.stdout.write(rendered({"items": answers}, output))
    return ExitCode.OK
