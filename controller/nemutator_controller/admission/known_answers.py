"""Answers that are known by the bytes of a review, which nobody decodes then.

They are those of `known_plans.py`, with their records, written but for what differs. All that a plan depends on is
either in the bytes or compared here; whatever is not the very same is answered in the long way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nemutator_controller.admission.answer_templates import AnswerTemplate
from nemutator_controller.admission.known_plans import Circumstances, KnownPlan, are_same
from nemutator_controller.admission.recent_stamps import Origin
from nemutator_controller.mutations.decisions import Subject

MOST = 512
"""Answers in memory. Each has a review of 16 KiB at most, and as much of a patch."""

TextKey = tuple[bytes, bool]
"""What the review says, and whether the server has seen that the namespace is opted in."""


@dataclass(slots=True)
class KnownAnswer:
    plan: KnownPlan
    subject: Subject
    circumstances: Circumstances
    known_of_it: Sequence[object]
    """What they were made of."""
    is_bounded: bool
    """Whether they have the bounds of its namespace: nothing but amounts depends on those."""
    origin: Origin
    labels: Mapping[str, str]
    """Those of the pod that are not ours."""
    unlike: Sequence[object]
    """What else was done to pods of this origin, which this pod has not lost."""
    template: AnswerTemplate
    note: Callable[[str], None]
    """Counts and logs the decision of that id."""
    moment: int | None = None
    """When they were last compared."""


class KnownAnswers:
    """Those that hold for what is known of the cluster now."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._known_then: Sequence[object] = ()
        self._answers: dict[TextKey, KnownAnswer] = {}

    def __len__(self) -> int:
        return len(self._answers)

    def find(self, key: TextKey, known_now: Sequence[object]) -> KnownAnswer | None:
        self._renew(known_now)
        return self._answers.get(key)

    def keep(self, key: TextKey, known_now: Sequence[object], answer: KnownAnswer) -> None:
        self._renew(known_now)
        self._answers.pop(key, None)
        while len(self._answers) >= self._most:
            del self._answers[next(iter(self._answers))]
        self._answers[key] = answer

    def _renew(self, known_now: Sequence[object]) -> None:
        if not are_same(known_now, self._known_then):
            self._answers.clear()
            self._known_then = known_now
