"""`nemutator apply`, from its command line to its output."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.yaml_documents import DocumentError, parsed

from nemutator_ctl import arguments
from nemutator_ctl.api import Api
from nemutator_ctl.apply.view import Piece, in_order, refused, view
from nemutator_ctl.documents import Output, rendered, unlisted
from nemutator_ctl.local_api import LocalApi

OBJECTS_PATH = "/api/v1/objects"


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "apply", "Apply policies and manifests, where there is no cluster.", output=True
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="policies and manifests (YAML); -: standard input"
    )
    given = parser.parse_args(argv)
    pieces = [piece for name in given.files for piece in _pieces(name)]
    if not pieces:
        raise OperatorError(
            "nothing was applied: there is no document in any of these files",
            remedy="name a file with a policy or a manifest in it",
            code=ExitCode.USAGE,
        )
    output = Output(given.output)
    answers: list[object] = []
    try:
        return _apply(LocalApi(arguments.directory(given)), in_order(pieces), output, answers)
    finally:
        # However it ended, these have been applied.
        if output is not Output.TABLE:
            _show(rendered({"items": answers}, output))


def _pieces(name: str) -> list[Piece]:
    try:
        documents = list(unlisted(parsed(arguments.content(Path(name)))))
    except DocumentError as error:
        raise OperatorError(
            f"{name}: {error}", remedy="correct it and apply again", code=ExitCode.USAGE
        ) from error
    if not documents:
        sys.stderr.write(f"nemutator: {name} is empty\n")
    return [Piece(name, document) for document in documents]


def _apply(brain: Api, pieces: Sequence[Piece], output: Output, answers: list[object]) -> int:
    """Apply each of *pieces* by itself; the exit code of the first that was refused."""
    code = ExitCode.OK
    for number, piece in enumerate(pieces, start=1):
        try:
            answer = brain.post(OBJECTS_PATH, piece.document)
            text = view(answer)
        except OperatorError as error:
            if error.code is ExitCode.UNREACHABLE:
                # Each of the rest would fail in the same way, after a wait of its own.
                raise refused(piece, error, left=len(pieces) - number) from error
            sys.stderr.write(f"nemutator: {refused(piece, error)}\n")
            code = code or error.code
            continue
        answers.append(answer)
        if output is Output.TABLE:
            _show(text)
    return code


def _show(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough; what was asked for is done all the same.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
