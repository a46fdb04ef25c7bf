"""The confined workers of `nemutator-agent observe`, and what each of their answers may cost.

The limits are some two hundred times what a usual machine needs: emulated ones, and those without a
CPU to spare, must get their answers, too.
"""

from nemutator_agent.inspection.confined_worker import AnswerLimits, ConfinedWorker
from nemutator_agent.inspection.detected_runtime import LONGEST_ANSWER
from nemutator_agent.profiler.heap.messages import LARGEST_ANSWER as LARGEST_HEAP
from nemutator_agent.profiler.symbols.messages import LARGEST_ANSWER


def examination_worker() -> ConfinedWorker:
    return ConfinedWorker(
        "nemutator_agent.inspection.examination_worker",
        AnswerLimits(cpu_s=20.0, wall_s=60.0, bytes=LONGEST_ANSWER),
    )


def symbol_worker() -> ConfinedWorker:
    return ConfinedWorker(
        "nemutator_agent.profiler.symbols.symbol_worker",
        AnswerLimits(cpu_s=60.0, wall_s=120.0, bytes=LARGEST_ANSWER),
    )


def heap_worker() -> ConfinedWorker:
    return ConfinedWorker(
        "nemutator_agent.profiler.heap.heap_worker",
        AnswerLimits(cpu_s=60.0, wall_s=120.0, bytes=LARGEST_HEAP),
    )
