"""The confined workers of `nemutator-agent observe`, and what each may take for an answer."""

from nemutator_agent.inspection.confined_worker import ConfinedWorker
from nemutator_agent.inspection.detected_runtime import LONGEST_ANSWER
from nemutator_agent.profiler.symbols.messages import LARGEST_ANSWER


def examination_worker() -> ConfinedWorker:
    return ConfinedWorker(
        "nemutator_agent.inspection.examination_worker", answer_s=5.0, largest_answer=LONGEST_ANSWER
    )


def symbol_worker() -> ConfinedWorker:
    return ConfinedWorker(
        "nemutator_agent.profiler.symbols.symbol_worker",
        answer_s=20.0,
        largest_answer=LARGEST_ANSWER,
    )
