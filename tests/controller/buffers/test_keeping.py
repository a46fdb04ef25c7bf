"""The buffer follows the season: at once when it has to grow, slowly when it may shrink, and never unlogged."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.buffers.documents import buffer_document
from nemutator_controller.buffers.keeping import (
    ABSENT,
    EVERY_S,
    LOWERED_AFTER_S,
    REPLICAS,
    TAKEN_BACK,
    BufferKeeping,
)
from nemutator_controller.buffers.model import (
    BufferObject,
    BufferUnknownError,
    ExpectedRise,
    FoundBuffer,
    NotScaledError,
    WantedBuffer,
)
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.mutations.decisions import Decision

from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

BUSY = WantedBuffer(policy="busy", pods=3)
DEPLOYMENT = BufferObject(
    api_version="apps/v1",
    kind="Deployment",
    namespace="nemutator",
    name="nemutator-buffer",
    uid="u1",
    pods=0,
)
CAPACITY = replace(
    DEPLOYMENT, api_version="autoscaling.x-k8s.io/v1beta1", kind="CapacityBuffer", uid="u2"
)


@dataclass
class Wishes:
    of: WantedBuffer | None = None
    cores: float | None = None
    known: bool = True

    def wanted(self) -> WantedBuffer | None:
        if not self.known:
            raise BufferUnknownError("not yet")
        return self.of

    def rise(self) -> ExpectedRise | None:
        return None if self.cores is None else ExpectedRise(cores=self.cores, within_s=900)


@dataclass
class Objects:
    """`BufferObjects` in memory; the first holds the buffer."""

    there: list[BufferObject] = field(default_factory=lambda: [DEPLOYMENT])
    refuses: bool = False
    written: list[tuple[str, int]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    async def find(self) -> FoundBuffer | None:
        if not self.there:
            return None
        first, *others = self.there
        return FoundBuffer(cpu_cores=1.0, memory_bytes=1e9, holder=first, others=tuple(others))

    async def scale(self, one: BufferObject, pods: int) -> None:
        if self.refuses:
            raise NotScaledError("forbidden")
        self.written.append((one.kind, pods))
        self.there = [
            replace(each, pods=pods) if each.uid == one.uid else each for each in self.there
        ]

    def notify(self, one: BufferObject, note: str) -> None:
        self.told.append(note)


@dataclass
class Journal:
    decisions: list[Decision] = field(default_factory=list)
    stones: list[Tombstone] = field(default_factory=list)
    is_away: bool = False

    async def add(self, decision: Decision) -> None:
        if self.is_away:
            raise StoreUnavailableError("full")
        self.decisions.append(decision)

    async def tombstones(self) -> Sequence[Tombstone]:
        return self.stones


@dataclass
class Kept:
    wishes: Wishes = field(default_factory=Wishes)
    objects: Objects = field(default_factory=Objects)
    journal: Journal = field(default_factory=Journal)
    clock: ManualClock = field(default_factory=ManualClock)
    meter: MemoryMeter = field(default_factory=MemoryMeter)

    def __post_init__(self) -> None:
        self.keeping = BufferKeeping(
            self.wishes,
            self.objects,
            self.journal,
            fake_process(clock=self.clock, meter=self.meter),
            most=5,
            fresh=lambda: f"d{len(self.journal.decisions)}",
        )

    @property
    def pods(self) -> int:
        return self.objects.there[0].pods


async def test_a_season_brings_the_buffer_and_takes_it_away() -> None:
    given = Kept()
    async with in_background(given.keeping.run(), given.clock):
        assert given.objects.written == []
        given.wishes.of = BUSY
        await given.clock.advance(EVERY_S)
        assert given.pods == 3
        given.wishes.of = None
        await given.clock.advance(EVERY_S)
        assert given.pods == 0
        await given.clock.advance(10 * EVERY_S)
    assert given.objects.written == [("Deployment", 3), ("Deployment", 0)]
    up, down = given.journal.decisions
    assert (up.edits[0].path, up.edits[0].before, up.edits[0].after) == (REPLICAS, (0,), (3,))
    assert (up.edits[0].policy, down.edits[0].policy) == ("busy", "busy")
    assert up.subject.kind == "Deployment"
    assert given.objects.told[0] == "from 0 to 3: SeasonPolicy busy wants 3 pods"
    assert given.meter.value(names.BUFFER_WRITES, result="written") == 2


async def test_fewer_for_the_same_policy_are_asked_for_after_some_minutes_only() -> None:
    given = Kept(Wishes(WantedBuffer(policy="busy", forecast_percent=100), cores=4))
    await given.keeping.round()
    assert given.pods == 4
    given.wishes.cores = 2
    for _ in range(int(LOWERED_AFTER_S / EVERY_S)):
        await given.keeping.round()
        await given.clock.advance(EVERY_S)
    assert given.pods == 4
    await given.keeping.round()
    assert given.pods == 2
    given.wishes.cores = 4.5
    await given.keeping.round()
    assert given.pods == 5


async def test_one_that_needs_many_again_meanwhile_starts_to_wait_anew() -> None:
    given = Kept(Wishes(WantedBuffer(policy="busy", forecast_percent=100), cores=4))
    await given.keeping.round()
    for cores in (2.0, 4.0, 2.0):
        given.wishes.cores = cores
        await given.keeping.round()
        await given.clock.advance(LOWERED_AFTER_S * 0.9)
    assert given.objects.written == [("Deployment", 4)]


async def test_another_policy_that_wants_fewer_is_followed_at_once() -> None:
    given = Kept(Wishes(BUSY))
    await given.keeping.round()
    given.wishes.of = WantedBuffer(policy="quiet", pods=1)
    await given.keeping.round()
    assert given.pods == 1


async def test_a_brain_that_starts_again_lowers_nothing_at_once() -> None:
    given = Kept(Wishes(WantedBuffer(policy="busy", pods=1)))
    given.objects.there = [replace(DEPLOYMENT, pods=3)]
    await given.keeping.round()
    assert given.pods == 3
    await given.clock.advance(LOWERED_AFTER_S)
    await given.keeping.round()
    assert given.pods == 1


@pytest.mark.parametrize("wanted", [None, WantedBuffer(policy="busy", forecast_percent=100)])
async def test_what_is_not_known_changes_nothing(wanted: WantedBuffer | None) -> None:
    given = Kept(Wishes(wanted, known=wanted is not None))
    given.objects.there = [replace(DEPLOYMENT, pods=3)]
    await given.keeping.round()
    assert given.objects.written == []
    assert given.keeping.state.wanted is None
    assert given.keeping.state.why


async def test_without_the_deployment_people_hear_how_to_install_it() -> None:
    given = Kept(Wishes(BUSY), Objects([]))
    await given.keeping.round()
    assert given.keeping.state.why == ABSENT


async def test_a_capacity_buffer_takes_the_place_of_the_pods() -> None:
    given = Kept(Wishes(BUSY), Objects([CAPACITY, replace(DEPLOYMENT, pods=3)]))
    await given.keeping.round()
    assert given.objects.written == [("CapacityBuffer", 3), ("Deployment", 0)]


async def test_a_change_that_was_taken_back_stays_so() -> None:
    given = Kept(Wishes(BUSY))
    given.journal.stones = [Tombstone("nemutator", "Deployment", "nemutator-buffer", REPLICAS)]
    await given.keeping.round()
    assert not given.objects.written
    assert not given.journal.decisions
    assert given.keeping.state.problem == TAKEN_BACK
    given.journal.stones = []
    await given.keeping.round()
    assert given.pods == 3


async def test_what_cannot_be_logged_is_not_done() -> None:
    given = Kept(Wishes(BUSY), journal=Journal(is_away=True))
    await given.keeping.round()
    assert given.objects.written == []
    assert given.keeping.state.problem == "the journal: full"


async def test_a_refused_write_is_told_and_tried_again() -> None:
    given = Kept(Wishes(BUSY), Objects(refuses=True))
    await given.keeping.round()
    assert given.keeping.state.problem == "forbidden"
    given.objects.refuses = False
    await given.keeping.round()
    assert (given.pods, given.keeping.state.problem) == (3, "")


async def test_the_document_says_what_is_wanted_and_what_stands() -> None:
    given = Kept(Wishes(BUSY))
    await given.keeping.round()
    found = buffer_document(given.keeping.state, most=5, now=given.clock.now() + 4)
    assert (found["wanted"], found["policy"], found["age_s"]) == (3, "busy", 4.0)
    assert found["items"][0]["name"] == "nemutator-buffer"
