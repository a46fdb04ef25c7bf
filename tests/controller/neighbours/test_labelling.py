import contextlib
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_controller.neighbours.labelling import (
    AGAIN_S,
    EVERY_S,
    MOST_AT_ONCE,
    NeighbourLabels,
)
from nemutator_controller.neighbours.labels import GradeLabels, LabelledObject, NotLabelledError
from nemutator_controller.neighbours.learning import NeighbourLearner
from nemutator_controller.neighbours.looked_nodes import LookedNode
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.model import Neighbourhood
from nemutator_controller.neighbours.verdicts import Verdicts

from tests.controller.neighbours.graded import link, looked, placed
from tests.controller.neighbours.test_looking import Places, in_turn
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

WEB = LabelledObject("Pod", "shop", "web-1", "uid-web-1")
BATCH = LabelledObject("Pod", "shop", "batch-1", "uid-batch-1")
DEPLOYMENT = LabelledObject("Deployment", "shop", "web")
NODE = looked([placed("web-1"), placed("batch-1")], link(0, 1))


@dataclass
class Objects:
    """`LabelledObjects` in memory."""

    there: dict[LabelledObject, dict[str, str]] = field(default_factory=dict)
    known: bool = True
    refused: set[LabelledObject] = field(default_factory=set)
    written: list[LabelledObject] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def standing(
        self, wanted: Collection[LabelledObject]
    ) -> Mapping[LabelledObject, GradeLabels] | None:
        if not self.known:
            return None
        return {one: dict(labels) for one, labels in self.there.items() if labels or one in wanted}

    async def write(self, one: LabelledObject, changes: Mapping[str, str | None]) -> None:
        self.written.append(one)
        if one in self.refused:
            raise NotLabelledError("admission webhook denied the request")
        for label, value in changes.items():
            if value is None:
                self.there[one].pop(label, None)
            else:
                self.there[one][label] = value

    def notify(self, one: LabelledObject, note: str) -> None:
        self.told.append(note)


@dataclass
class Labelling:
    objects: Objects
    clock: ManualClock = field(default_factory=lambda: ManualClock(now=1.7e9))
    meter: MemoryMeter = field(default_factory=MemoryMeter)
    verdicts: Verdicts = field(default_factory=lambda: Verdicts(share=100.0, most=1_000))

    def __post_init__(self) -> None:
        self.process = fake_process(clock=self.clock, meter=self.meter)
        learner = NeighbourLearner(self.process, most_nodes=1)
        self.assessments = NeighbourAssessments(
            learner, Places(), self.verdicts, in_turn, self.process
        )

    def assess(self, *nodes: LookedNode, times: int = 2) -> None:
        for _ in range(times):
            self.assessments.latest = self.verdicts.conclude(
                nodes, nodes_count=1, now=self.clock.now()
            )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        engine = NeighbourLabels(self.assessments, self.objects, self.process)
        async with in_background(engine.run(), self.clock):
            yield

    async def round(self, after_s: float = EVERY_S) -> None:
        await self.clock.advance(after_s)
        await self.clock.until_sleeping(1)


async def test_grades_stand_on_pods_and_workloads_and_go_with_them() -> None:
    given = Labelling(Objects({WEB: {}, BATCH: {}, DEPLOYMENT: {}}))
    given.assess(NODE)
    async with given.running():
        await given.round()
        assert given.objects.there == {
            WEB: {names.VICTIM_NOW: "3"},
            BATCH: {names.AGGRESSOR_NOW: "2"},
            DEPLOYMENT: {names.VICTIM_NOW: "3"},
        }
        written = len(given.objects.written)
        await given.round(20 * EVERY_S)
        assert len(given.objects.written) == written
        given.assess(looked([placed("web-1"), placed("batch-1")]), times=5)
        await given.round()
        assert set(map(str, given.objects.there.values())) == {"{}"}
        await given.round()
        assert given.meter.value(names.NEIGHBOUR_LABELS_DUE) == 0


async def test_before_anybody_has_looked_nothing_is_touched() -> None:
    given = Labelling(Objects({WEB: {names.VICTIM_NOW: "2"}}))
    async with given.running():
        await given.round(10 * EVERY_S)
        assert given.objects.written == []
        given.assess(NODE)
        given.objects.known = False
        await given.round()
        assert given.objects.written == []


async def test_what_stands_stays_while_nobody_can_tell() -> None:
    given = Labelling(Objects({WEB: {names.VICTIM_NOW: "2"}, DEPLOYMENT: {names.VICTIM_NOW: "2"}}))
    given.assessments.latest = Neighbourhood(at=1.7e9)
    async with given.running():
        await given.round()
        assert given.objects.written == []
        given.assess(looked([placed("web-1")], untold="too short"))
        await given.round()
        assert given.objects.written == []
        # Somebody has seen for long enough that it does not suffer.
        given.assess(looked([placed("web-1")]))
        await given.round()
        assert given.objects.there == {WEB: {}, DEPLOYMENT: {}}


async def test_a_second_writer_is_given_way_to_and_named() -> None:
    given = Labelling(Objects({WEB: {}}))
    given.assess(NODE)
    async with given.running():
        for _ in range(30):
            await given.round()
            await given.round()
            given.objects.there[WEB].clear()
        assert len(given.objects.written) < 10
        assert len(given.objects.told) == 1
        assert names.VICTIM_NOW in given.objects.told[0]
        assert given.meter.value(names.NEIGHBOUR_LABELS_DISPUTED) == 1


async def test_who_cannot_be_written_to_is_left_alone_for_a_while() -> None:
    given = Labelling(Objects({WEB: {}}, refused={WEB}))
    given.assess(NODE)
    async with given.running():
        await given.round(AGAIN_S - 2 * EVERY_S)
        assert given.objects.written == [WEB]
        assert given.meter.value(names.NEIGHBOUR_LABELS, result="refused") == 1
        given.objects.refused.clear()
        await given.round(3 * EVERY_S)
        assert given.objects.there == {WEB: {names.VICTIM_NOW: "3"}}


async def test_one_round_writes_to_no_more_than_its_bound() -> None:
    pods = [placed(f"p{n}-1") for n in range(100)]
    given = Labelling(
        Objects({LabelledObject("Pod", "shop", each.pod, each.uid): {} for each in pods})
    )
    given.assess(looked(pods, *[link(n, 99) for n in range(99)]))
    async with given.running():
        assert len(given.objects.written) == MOST_AT_ONCE
        await given.round()
        assert len(given.objects.written) == 100
