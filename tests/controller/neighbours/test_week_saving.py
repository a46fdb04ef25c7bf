"""Who was bad is known after a restart, and what cannot be saved is tried again."""

from nemutator_controller.neighbours.labels import LabelledObject, labelled
from nemutator_controller.neighbours.model import Neighbourhood, NeighbourRole
from nemutator_controller.neighbours.verdicts import Verdicts
from nemutator_controller.neighbours.week_grades import LEAST_TIMES
from nemutator_controller.neighbours.week_saving import EVERY_S, WeekSaving

from tests.controller.neighbours.graded import link, looked, placed
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.neighbour_weeks import MemoryNeighbourWeeks
from tests.fakes.process import fake_process

PODS = [placed("web-1"), placed("batch-1"), placed("idle-1")]


class Life:
    """Of a brain, with a store that outlives it."""

    def __init__(self, store: MemoryNeighbourWeeks, clock: ManualClock) -> None:
        self.clock = clock
        self.verdicts = Verdicts(share=1.0, most=100)
        self.saving = WeekSaving(self.verdicts, store, fake_process(clock=clock))
        self.found = Neighbourhood()

    def look(self, times: int, *, untold: str = "") -> None:
        one = looked(PODS, *(() if untold else (link(0, 1),)), untold=untold)
        for _ in range(times):
            self.found = self.verdicts.conclude([one], nodes_count=1, now=self.clock.now())


async def test_who_was_bad_is_known_after_a_restart() -> None:
    store, clock = MemoryNeighbourWeeks(), ManualClock(1.7e9)
    first = Life(store, clock)
    first.look(LEAST_TIMES + 5)
    await first.saving.save()
    assert {(one.role, str(one.subject)[:5]) for one in store.weeks} == {
        (NeighbourRole.VICTIM, "uid-w"),
        (NeighbourRole.VICTIM, "Neigh"),
        (NeighbourRole.AGGRESSOR, "uid-b"),
        (NeighbourRole.AGGRESSOR, "Neigh"),
    }
    await clock.advance(60.0)
    again = Life(store, clock)
    await again.saving.restore()
    again.look(1, untold="it was seen in 1 minute of the last hour")
    [web] = [one for one in again.found.pods if one.name == "web-1"]
    grades = web.grades[NeighbourRole.VICTIM]
    assert (grades.now, grades.usual, grades.worst) == (None, 3, 3)
    # Until it can be told, the label that says how it is now stays as well.
    labels = labelled(again.found)[LabelledObject("Pod", "shop", "web-1", "uid-web-1")]
    assert sorted(labels.values()) == ["", "3", "3"]


async def test_a_full_disk_is_tried_again() -> None:
    store, clock = MemoryNeighbourWeeks(), ManualClock(1.7e9)
    life = Life(store, clock)
    life.look(3)
    store.is_away = True
    async with in_background(life.saving.run(), clock):
        await clock.advance(EVERY_S)
        assert store.weeks == ()
        store.is_away = False
        await clock.advance(EVERY_S)
        assert len(store.weeks) == 4
