"""Whether a person who has read a plan says yes to it."""

import sys
from typing import TextIO

from nemutator_common.errors import ExitCode, OperatorError


def ask(
    plan: str,
    question: str,
    *,
    or_say: str = "--yes",
    answers: TextIO | None = None,
    shown: TextIO | None = None,
) -> None:
    """Return when the answer to *question* (`Evict them?`) is yes; raises OperatorError.

    *or_say* is what a script gives in place of an answer. It is all on the terminal, where nothing else is named.
    """
    answers, shown = answers or sys.stdin, shown or sys.stderr
    if not answers.isatty():
        raise OperatorError(
            "there is no terminal on which to ask whether to go on",
            remedy=f"read the plan with --plan, then say {or_say}",
            code=ExitCode.USAGE,
        )
    shown.write(f"{plan}{question} [y/N] ")
    shown.flush()
    if answers.readline().strip().lower() not in ("y", "yes"):
        wish = question[0].lower() + question.removesuffix("?")[1:]
        raise OperatorError("nothing was done", remedy=f"say y to {wish}", code=ExitCode.FAILED)
