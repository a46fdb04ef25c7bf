"""Asking the worker for verdicts, and ending it when it does not answer as it should."""

import sys

from nemutator_agent.inspection.confined_process import ConfinedFailureError, ConfinedProcess
from nemutator_agent.inspection.failures import InvalidAnswerError, WorkerFailedError
from nemutator_agent.inspection.verdicts import LONGEST_ANSWER, Verdict, decode

WORKER = (sys.executable, "-I", "-m", "nemutator_agent.inspection.worker")
"""`-I`: neither the current directory nor the environment chooses what runs as root at first."""


class WorkerProcess:
    """One worker at a time, started when it is first needed and again after it failed."""

    def __init__(self, *, command: tuple[str, ...] = WORKER, answer_s: float = 5.0) -> None:
        self._process = ConfinedProcess(command, answer_s=answer_s)

    async def examine(self, file: int) -> Verdict:
        """What the worker says of an open *file*; it is killed when it hangs or talks nonsense."""
        try:
            return decode(await self._process.ask(b"?", file, longest=LONGEST_ANSWER))
        except InvalidAnswerError:
            self._process.stop()
            raise WorkerFailedError("nonsense") from None
        except ConfinedFailureError as failure:
            reason = failure.reason if failure.reason != "talked too much" else "nonsense"
            raise WorkerFailedError(reason) from failure

    def stop(self) -> None:
        """End the worker; it holds nothing worth a farewell."""
        self._process.stop()
