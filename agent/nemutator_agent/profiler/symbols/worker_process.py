"""Asking the symbol worker, and ending it when it does not answer as it should."""

import sys

from nemutator_agent.inspection.confined_process import ConfinedFailureError, ConfinedProcess
from nemutator_agent.inspection.failures import InvalidAnswerError, WorkerFailedError
from nemutator_agent.profiler.symbols.messages import (
    LARGEST_ANSWER,
    SymbolAnswer,
    SymbolQuestion,
    decode_answer,
    encode_question,
)

WORKER = (sys.executable, "-I", "-m", "nemutator_agent.profiler.symbols.worker")
"""`-I`: neither the current directory nor the environment chooses what runs as root at first."""


class SymbolWorkerProcess:
    """One worker at a time, started when it is first needed and again after it failed."""

    def __init__(self, *, command: tuple[str, ...] = WORKER, answer_s: float = 20.0) -> None:
        self._process = ConfinedProcess(command, answer_s=answer_s)

    async def ask(self, question: SymbolQuestion, file: int) -> SymbolAnswer:
        """What the worker says of an open *file*. Raises WorkerFailedError."""
        try:
            content = await self._process.ask(
                encode_question(question), file, longest=LARGEST_ANSWER
            )
            return decode_answer(content, question)
        except InvalidAnswerError:
            self._process.stop()
            raise WorkerFailedError("nonsense") from None
        except ConfinedFailureError as failure:
            reason = failure.reason if failure.reason != "talked too much" else "nonsense"
            raise WorkerFailedError(reason) from failure

    def stop(self) -> None:
        """End the worker; the next question starts another."""
        self._process.stop()
