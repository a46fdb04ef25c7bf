"""Of brains that share a database each looks at all nodes: when the one that leads is gone, the next one goes on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.neighbours import neighbours_part
from nemutator_controller.database.access import Database
from nemutator_controller.neighbours.learning import NeighbourLearner
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.model import Neighbourhood, NeighbourRole
from nemutator_controller.neighbours.verdicts import Verdicts
from nemutator_controller.neighbours.week_grades import LEAST_TIMES
from nemutator_controller.settings.brain import BrainSettings

from tests.contract.store_kinds import KINDS, opened_for
from tests.controller.neighbours.graded import link, looked, placed
from tests.controller.neighbours.test_looking import Places, in_turn
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.process import fake_process

SHARED = BrainSettings(database="postgresql://brains@db/brains")


@pytest.fixture(params=KINDS[1:])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    with opened_for(request, tmp_path) as opened:
        yield opened


class OneOfSeveral:
    """What a brain of several makes of neighbours."""

    def __init__(self, database: Database, clock: ManualClock) -> None:
        process = fake_process(clock=clock)
        context = BrainContext(settings=SHARED, process=process, database=database, cluster=None)
        learner = NeighbourLearner(process, most_nodes=1)
        self.verdicts = Verdicts(share=1.0, most=100)
        assessments = NeighbourAssessments(learner, Places(), self.verdicts, in_turn, process)
        self.clock = clock
        self.part = neighbours_part(context, assessments, None)

    @property
    def leading(self) -> list[str]:
        return [task.name for task in self.part.tasks if task.alone]

    async def lead(self) -> None:
        """Until it is killed, some minutes later."""
        [save] = [task.run for task in self.part.tasks if task.alone]
        async with in_background(save(), self.clock):
            await self.clock.advance(700)

    def look(self, times: int, *, suffers: bool) -> Neighbourhood:
        found = [placed("web-1"), placed("batch-1", namespace="jobs")]
        links = [link(0, 1)] if suffers else []
        every = [
            self.verdicts.conclude([looked(found, *links)], nodes_count=1, now=self.clock.now())
            for _ in range(times)
        ]
        return every[-1]


def worst(found: Neighbourhood) -> dict[str, int | None]:
    return {
        one.owner: one.grades[role].worst
        for one in found.pods
        for role in NeighbourRole
        if one.grades[role].most
    }


async def test_who_was_bad_is_known_to_the_brain_that_leads_next(database: Database) -> None:
    clock = ManualClock()
    first, waiting = OneOfSeveral(database, clock), OneOfSeveral(database, clock)
    for brain in (first, waiting):
        await brain.part.restore()
        assert brain.leading == ["save weeks of neighbours"]
    before = worst(first.look(LEAST_TIMES, suffers=True))
    assert before == {"web": 3, "batch": 2}
    # All points are seen by both.
    assert worst(waiting.look(LEAST_TIMES, suffers=True)) == before
    await first.lead()
    # One that was started anew begins with what was saved, and so does what it saves itself.
    for _ in range(2):
        again = OneOfSeveral(database, clock)
        await again.part.restore()
        assert worst(again.look(1, suffers=False)) == before
        await again.lead()
    assert worst(waiting.look(1, suffers=False)) == before
