"""Aggressors are kept aside by a SeasonPolicy that says so: first in words, then one after another."""

from dataclasses import dataclass, field, replace

import pytest
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.neighbours.aside_keeping import (
    AGAIN_S,
    EVERY_S,
    EVERYWHERE,
    HELD_S,
    LATELY,
    MOST_TIMES,
    NEXT,
    OLDEST_S,
    REASON,
    WEEK_S,
    AsideKeeping,
    is_for_this,
)
from nemutator_controller.neighbours.documents import list_document
from nemutator_controller.neighbours.learning import NeighbourLearner
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.model import (
    AskedAside,
    GradedNeighbour,
    GradedTimes,
    Neighbourhood,
    NeighbourRole,
    NeighbourWorkload,
    WantedAside,
)
from nemutator_controller.neighbours.verdicts import Verdicts

from tests.controller.neighbours.test_looking import Places, in_turn
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.process import fake_process

PLANS = WantedAside(policy="day", grade=3, evicts=False)
EVICTS = replace(PLANS, evicts=True)


def neighbour(name: str, grade: int | None, *, owner: str = "batch") -> GradedNeighbour:
    grades = {
        NeighbourRole.VICTIM: GradedTimes(0, 0, 0),
        NeighbourRole.AGGRESSOR: GradedTimes(grade, 1, 4),
    }
    return GradedNeighbour(
        namespace="jobs",
        kind="Pod",
        name=name,
        uid=f"uid-{name}",
        node="n1",
        owner_kind="Deployment",
        owner=owner,
        grades=grades,
        why={NeighbourRole.AGGRESSOR: "shop/web-1 waits"},
        why_within={NeighbourRole.AGGRESSOR: "a pod of another namespace waits"},
    )


@dataclass
class Evictions:
    """`AsideEvictions` in memory; pods go when a test says so."""

    asked: list[tuple[str, str]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    waiting: set[str] = field(default_factory=set)
    kept: dict[str, str] = field(default_factory=dict)
    is_away: bool = False
    is_full: bool = False
    earlier: list[AskedAside] = field(default_factory=list)

    async def before(self, since: float) -> list[AskedAside]:
        if self.is_away:
            raise StoreUnavailableError("full")
        return [one for one in self.earlier if one.at >= since]

    def why_not(self, uid: str) -> str:
        return self.kept.get(uid, "")

    def waits(self, uid: str) -> bool:
        return uid in self.waiting

    async def ask(self, uid: str, reason: str) -> str:
        if self.is_away:
            raise StoreUnavailableError("full")
        if self.is_full:
            return ""
        self.asked.append((uid, reason))
        self.waiting.add(uid)
        return f"r{len(self.asked)}"

    async def cancel(self, request: str) -> None:
        self.cancelled.append(request)
        self.waiting.clear()


class Aside:
    """An `AsideSeason`, too."""

    def __init__(self, wanted: WantedAside | None) -> None:
        self.wanted, self.clock, self.evictions = wanted, ManualClock(1.7e9), Evictions()
        process = fake_process(clock=self.clock)
        self.assessments = NeighbourAssessments(
            NeighbourLearner(process, most_nodes=1),
            Places(),
            Verdicts(share=1.0, most=10),
            in_turn,
            process,
        )
        self.keeping = AsideKeeping(self, self.assessments, self.evictions, process)

    def aside(self) -> WantedAside | None:
        return self.wanted

    def found(self, *pods: GradedNeighbour) -> None:
        self.assessments.latest = Neighbourhood(at=self.clock.now(), pods=pods)

    async def pass_(self, seconds: float, *pods: GradedNeighbour) -> None:
        """Time in which *pods* are found in each look."""
        for _ in range(max(1, round(seconds / EVERY_S))):
            self.found(*pods)
            await self.keeping.round()
            await self.clock.advance(EVERY_S)
        self.found(*pods)
        await self.keeping.round()

    @property
    def said(self) -> dict[str, tuple[str, str]]:
        return {one.name: (one.state, one.why) for one in self.keeping.state.pods}


async def test_by_itself_it_is_only_said_who_would_be_evicted() -> None:
    given = Aside(PLANS)
    await given.pass_(EVERY_S, neighbour("loud", 4), neighbour("quiet", 2))
    assert given.said == {"loud": ("kept", "it has the grade for less than 5 minutes")}
    await given.pass_(HELD_S, neighbour("loud", 4), neighbour("quiet", 2))
    assert given.said == {"loud": ("planned", "")}
    assert given.evictions.asked == []
    document = list_document(
        given.assessments.latest,
        given.keeping.state,
        workloads=False,
        role=None,
        namespace=None,
        limit=5,
        now=0.0,
    )
    assert document["aside"]["pods"][0]["state"] == "planned"
    # A reason must not tell who shares a namespace whom he shares the node with.
    assert "shop" not in str(document["aside"])


async def test_the_worst_goes_first_and_the_next_once_it_is_gone() -> None:
    given = Aside(EVICTS)
    loud, louder = neighbour("loud", 3, owner="a"), neighbour("louder", 4, owner="b")
    await given.pass_(HELD_S, loud, louder)
    reason = "SeasonPolicy day keeps aggressors aside: a pod of another namespace waits"
    assert given.evictions.asked == [("uid-louder", reason)]
    assert given.said == {"louder": ("evicting", ""), "loud": ("kept", NEXT)}
    await given.pass_(EVERY_S, loud, louder)
    assert len(given.evictions.asked) == 1
    given.evictions.waiting.clear()
    await given.pass_(EVERY_S, loud)
    assert [uid for uid, _ in given.evictions.asked] == ["uid-louder", "uid-loud"]


async def test_whoever_is_quiet_for_a_moment_begins_anew() -> None:
    given = Aside(EVICTS)
    await given.pass_(HELD_S - 2 * EVERY_S, neighbour("loud", 4))
    await given.pass_(EVERY_S, neighbour("loud", 1))
    await given.pass_(HELD_S - 2 * EVERY_S, neighbour("loud", 4))
    assert given.evictions.asked == []


async def test_a_workload_is_left_alone_for_an_hour_and_after_three_times_for_good() -> None:
    given = Aside(EVICTS)
    for number in range(MOST_TIMES):
        pod = neighbour(f"loud-{number}", 4)
        await given.pass_(HELD_S, pod)
        assert len(given.evictions.asked) == number + 1
        given.evictions.waiting.clear()
        again = neighbour(f"again-{number}", 4)
        await given.pass_(HELD_S, again)
        expected = EVERYWHERE if number + 1 == MOST_TIMES else LATELY
        assert given.said[again.name] == ("kept", expected)
        await given.pass_(AGAIN_S)
    assert len(given.evictions.asked) == MOST_TIMES


@pytest.mark.parametrize("why", ["its DaemonSet would make another one on the same node", "gone"])
async def test_who_may_not_go_is_named_with_the_reason(why: str) -> None:
    given = Aside(EVICTS)
    given.evictions.kept["uid-loud"] = why
    await given.pass_(HELD_S, neighbour("loud", 4))
    assert given.said == {"loud": ("kept", why)}
    assert given.evictions.asked == []


async def test_when_its_season_is_over_what_waits_is_called_back() -> None:
    given = Aside(EVICTS)
    await given.pass_(HELD_S, neighbour("loud", 4))
    given.wanted = None
    await given.keeping.round()
    assert given.evictions.cancelled == ["r1"]
    assert given.keeping.state.policy == ""
    await given.keeping.round()
    assert given.evictions.cancelled == ["r1"]


async def test_what_was_found_long_ago_evicts_nobody() -> None:
    given = Aside(EVICTS)
    await given.pass_(HELD_S - EVERY_S, neighbour("loud", 4))
    await given.clock.advance(OLDEST_S + 1)
    await given.keeping.round()
    assert (given.evictions.asked, given.said) == ([], {})


def asked(given: Aside, ago_s: float, request: str, *, is_open: bool = False) -> AskedAside:
    return AskedAside(
        workload=NeighbourWorkload("jobs", "Deployment", "batch"),
        uid=f"uid-{request}",
        request=request,
        at=given.clock.now() - ago_s,
        is_open=is_open,
    )


@pytest.mark.parametrize(
    ("agos", "said"),
    [
        ([HELD_S], ("kept", LATELY)),
        ([AGAIN_S], ("evicting", "")),
        ([3 * AGAIN_S, 2 * AGAIN_S, AGAIN_S], ("kept", EVERYWHERE)),
        ([WEEK_S - HELD_S, 2 * AGAIN_S, AGAIN_S], ("evicting", "")),
    ],
)
async def test_a_brain_that_takes_over_knows_what_was_evicted_before(
    agos: list[float], said: tuple[str, str]
) -> None:
    given = Aside(EVICTS)
    given.evictions.earlier = [asked(given, ago, f"r{number}") for number, ago in enumerate(agos)]
    await given.keeping.read()
    await given.pass_(HELD_S, neighbour("loud", 4))
    assert given.said == {"loud": said}


async def test_what_another_brain_has_asked_for_is_called_back_with_its_season() -> None:
    given = Aside(EVICTS)
    given.evictions.earlier = [asked(given, HELD_S, "r7", is_open=True)]
    given.evictions.waiting.add("uid-r7")
    await given.keeping.read()
    given.wanted = None
    await given.keeping.round()
    assert given.evictions.cancelled == ["r7"]


def test_an_eviction_of_somebody_else_is_told_apart() -> None:
    assert is_for_this(REASON.format("day", "shop/web-1 waits"))
    assert not is_for_this("SeasonPolicy night packs: n4 is emptied")
    assert not is_for_this("aside of the shop")


async def test_the_engine_goes_round_and_survives_a_full_disk_and_a_full_queue() -> None:
    given = Aside(EVICTS)
    given.evictions.is_away = True
    async with in_background(given.keeping.run(), given.clock):
        given.found(neighbour("loud", 4))
        await given.clock.advance(EVERY_S)
        assert given.said == {}, "what was asked for before is not known yet"
        given.evictions.is_away = False
        await given.clock.advance(EVERY_S)
        given.evictions.is_away = True
        for _ in range(round(HELD_S / EVERY_S) + 2):
            given.found(neighbour("loud", 4))
            await given.clock.advance(EVERY_S)
        assert given.evictions.asked == []
        given.evictions.is_away, given.evictions.is_full = False, True
        given.found(neighbour("loud", 4))
        await given.clock.advance(EVERY_S)
        assert given.said == {"loud": ("kept", NEXT)}
        given.evictions.is_full = False
        given.found(neighbour("loud", 4))
        await given.clock.advance(EVERY_S)
        assert len(given.evictions.asked) == 1
