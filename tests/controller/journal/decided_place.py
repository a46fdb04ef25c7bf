"""A journal and objects, for tests that take a decision back."""

from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.live_objects import LiveObject
from nemutator_controller.journal.records import Reversal
from nemutator_controller.journal.rolling_back import RollingBack
from nemutator_controller.mutations.decisions import Decision

from tests.fakes.clocks import ManualClock
from tests.fakes.decisions import NOW, POD, changed_pod, decision
from tests.fakes.journals import MemoryJournal, MemoryObjects
from tests.fakes.process import fake_process


class Place:
    """A journal with one decision, and the pod that it is about."""

    def __init__(self, one: Decision | None = None) -> None:
        self.journal = MemoryJournal()
        self.objects = MemoryObjects()
        self.decision = one or decision()
        self.objects.place(POD, changed_pod())
        numbers = iter(range(1, 100))
        self.clock = ManualClock(NOW + 60)
        self.audience = AdmissionReplicas(expected=False, process=fake_process(clock=self.clock))
        self.rolling_back = RollingBack(
            self.journal,
            self.objects,
            replicas=self.audience,
            fresh=lambda: f"v{next(numbers)}",
            process=fake_process(clock=self.clock),
            revisions=self.revisions,
        )
        self.policies: dict[str, str] = {}

    async def revisions(self) -> dict[str, str]:
        return self.policies

    async def roll_back(self, *, evict: bool = False) -> Reversal:
        await self.journal.add([self.decision], writer="a", state="answered")
        return await self.rolling_back.roll_back(self.decision, evict=evict)

    @property
    def live(self) -> LiveObject:
        return self.objects.living["Pod", "team", "web-1"]


def results(reversal: Reversal) -> dict[str, tuple[str, str]]:
    return {each.path: (each.result, each.why) for each in reversal.outcomes}
