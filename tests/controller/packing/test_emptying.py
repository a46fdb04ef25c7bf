"""Nodes are emptied one after another in the season that says so, and given back when it is over."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.packing.documents import packing_document
from nemutator_controller.packing.emptying import (
    AGAIN_S,
    EVERY_S,
    LEAST_LEFT,
    MOST_ASKED,
    NodeEmptying,
)
from nemutator_controller.packing.model import (
    NO_CEILING,
    NodeContents,
    OversellCeiling,
    PackingUnknownError,
    PackNode,
    PackPod,
)

from tests.controller.packing.test_plans import node, pod
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.process import fake_process


@dataclass
class Season:
    policy: str | None = "night"
    most: OversellCeiling = NO_CEILING

    def packs_by(self) -> str | None:
        return self.policy

    def ceiling(self) -> OversellCeiling:
        return self.most


@dataclass
class Nodes:
    """`PackedNodes` in memory."""

    there: dict[str, PackNode]
    pods: dict[str, list[PackPod]] = field(default_factory=dict)
    known: bool = True
    silent: set[str] = field(default_factory=set)

    async def now(self) -> Sequence[PackNode] | None:
        return list(self.there.values()) if self.known else None

    async def contents_of(self, node: str) -> NodeContents:
        if node in self.silent:
            raise PackingUnknownError("no answer")
        return NodeContents(pods=tuple(self.pods.get(node, ())))

    def mark(self, name: str) -> None:
        self.there[name] = replace(self.there[name], is_marked=True)


@dataclass
class Evictions:
    """`PackingEvictions` in memory; pods go when a test says so."""

    asked: list[list[str]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    waiting: set[str] = field(default_factory=set)
    refuses: bool = False
    is_away: bool = False

    async def ask(self, pods: Sequence[PackPod], reason: str) -> str:
        if self.is_away:
            raise StoreUnavailableError("full")
        if self.refuses:
            return ""
        self.asked.append([one.name for one in pods])
        self.reasons.append(reason)
        self.waiting |= {one.uid for one in pods}
        return f"r{len(self.asked)}"

    def waits(self, uids: Collection[str]) -> bool:
        return bool(self.waiting & set(uids))

    async def cancel(self, request: str) -> None:
        self.cancelled.append(request)
        self.waiting.clear()


@dataclass
class Packed:
    nodes: Nodes
    season: Season = field(default_factory=Season)
    evictions: Evictions = field(default_factory=Evictions)
    clock: ManualClock = field(default_factory=ManualClock)
    most: int = 2

    def __post_init__(self) -> None:
        self.emptying = NodeEmptying(
            self.season,
            self.nodes,
            self.evictions,
            fake_process(clock=self.clock),
            most=self.most,
        )

    async def round(self, times: int = 1) -> None:
        for _ in range(times):
            await self.emptying.round()
            await self.clock.advance(EVERY_S)

    def state(self, name: str) -> str:
        one = self.emptying.chosen.get(name)
        return "" if one is None else one.state


def cluster(**pods: list[PackPod]) -> Nodes:
    """A node with little on it among three that are half full."""
    names = ("low", "a", "b", "c")
    there = {name: node(name, 400 if name == "low" else 2_400) for name in names}
    return Nodes(there, {"low": [pod("web", 400)]} | pods)


async def test_a_node_is_marked_emptied_named_and_given_back() -> None:
    given = Packed(cluster())
    await given.round()
    assert given.state("low") == "emptying"
    # Until its mark stands nothing is evicted: its pods would come back.
    await given.round()
    assert given.evictions.asked == []
    given.nodes.mark("low")
    await given.round(3)
    assert given.evictions.asked == [["web"]]
    assert given.evictions.reasons == ["SeasonPolicy night packs: its node low is emptied"]
    given.nodes.pods["low"] = [pod("agent", goes_along=True)]
    given.evictions.waiting.clear()
    await given.round()
    assert given.state("low") == "removable"
    assert given.emptying.chosen["low"].why.startswith("SeasonPolicy night packs: nothing runs")
    given.season.policy = ""
    await given.round()
    assert given.emptying.chosen == {}
    assert given.evictions.cancelled == ["r1"]


async def test_the_engine_goes_round_and_survives_a_full_disk() -> None:
    given = Packed(cluster())
    given.evictions.is_away = True
    given.nodes.mark("low")
    async with in_background(given.emptying.run(), given.clock):
        await given.clock.advance(2 * EVERY_S)
        assert given.state("low") == "emptying"
        given.evictions.is_away = False
        await given.clock.advance(EVERY_S)
        assert given.evictions.asked == [["web"]]


async def test_one_after_another_and_some_are_always_left() -> None:
    given = Packed(
        Nodes({name: node(name, 0, requested_memory=0) for name in ("a", "b", "c", "d")}), most=9
    )
    await given.round(10)
    assert len(given.emptying.chosen) == 4 - LEAST_LEFT
    assert set(map(given.state, given.emptying.chosen)) == {"removable"}


async def test_no_more_than_the_setting_says() -> None:
    given = Packed(Nodes({name: node(name, 0, requested_memory=0) for name in "abcdef"}), most=2)
    await given.round(10)
    assert len(given.emptying.chosen) == 2


async def test_without_the_setting_or_the_season_nothing_is_chosen() -> None:
    off = Packed(cluster(), most=0)
    quiet = Packed(cluster(), Season(""))
    for given in (off, quiet):
        await given.round(3)
        assert given.emptying.chosen == {}


async def test_what_cannot_be_told_changes_nothing() -> None:
    given = Packed(cluster())
    await given.round()
    given.season.policy = None
    await given.round()
    given.season.policy, given.nodes.known = "night", False
    await given.round()
    assert given.state("low") == "emptying"


async def test_a_node_that_needs_its_pods_after_all_is_given_back_for_a_while() -> None:
    given = Packed(cluster())
    await given.round()
    given.nodes.pods["low"].append(pod("bare", stays="nobody would make another one"))
    await given.round(2)
    assert given.emptying.chosen == {}
    given.nodes.pods["low"].pop()
    await given.round()
    assert given.emptying.chosen == {}
    await given.clock.advance(AGAIN_S)
    await given.round()
    assert given.state("low") == "emptying"


async def test_a_budget_that_its_own_evictions_have_used_up_is_waited_for() -> None:
    given = Packed(cluster(low=[pod("web-1"), pod("web-2")]))
    await given.round()
    given.nodes.mark("low")
    await given.round()
    given.nodes.pods["low"] = [pod("web-2", waits="the PodDisruptionBudget web lets none go now")]
    await given.round(3)
    assert given.state("low") == "emptying"
    assert given.evictions.cancelled == []


async def test_a_node_that_is_emptied_is_not_given_back_while_nobody_can_tell_what_is_on_it() -> (
    None
):
    given = Packed(cluster())
    await given.round()
    given.nodes.silent.add("low")
    await given.round(2)
    assert given.state("low") == "emptying"


async def test_no_node_is_emptied_where_others_would_be_oversold() -> None:
    given = Packed(cluster(low=[pod("web", 400, limit_cpu=4_000)]))
    given.season.most = OversellCeiling(cpu=0.9)
    await given.round()
    assert given.emptying.chosen == {}
    given.season.most = OversellCeiling(cpu=1.0)
    await given.clock.advance(AGAIN_S)
    await given.round()
    assert given.state("low") == "emptying"


async def test_pods_that_come_back_each_time_are_wanted_there() -> None:
    given = Packed(cluster())
    await given.round()
    given.nodes.mark("low")
    for _ in range(10):
        await given.round()
        given.evictions.waiting.clear()
    assert len(given.evictions.asked) == MOST_ASKED
    assert given.emptying.chosen == {}


async def test_a_node_to_which_a_pod_comes_is_not_called_removable() -> None:
    given = Packed(cluster(low=[]))
    await given.round(2)
    assert given.state("low") == "removable"
    given.nodes.pods["low"] = [pod("web", 400)]
    await given.round()
    assert given.state("low") == "emptying"


async def test_a_brain_that_starts_again_goes_on_with_what_it_has_marked() -> None:
    given = Packed(cluster())
    given.nodes.mark("low")
    await given.round()
    assert given.evictions.asked == [["web"]]


async def test_a_removed_node_is_forgotten_and_another_one_is_looked_for() -> None:
    given = Packed(cluster())
    await given.round()
    del given.nodes.there["low"]
    await given.round()
    assert given.emptying.chosen == {}


async def test_a_node_of_which_nobody_knows_what_is_on_it_is_kept() -> None:
    given = Packed(cluster())
    given.nodes.silent.add("low")
    await given.round()
    assert given.emptying.chosen == {}


async def test_the_plan_is_there_before_anything_is_done() -> None:
    given = Packed(cluster(), Season(""), most=0)
    plans = await given.emptying.plan(3)
    assert plans is not None
    document = packing_document(plans, given.emptying.chosen, policy="", most=0)
    first, *others = document["items"]
    assert (first["node"], first["state"], first["moves"]) == (
        "low",
        "possible",
        [{"pod": "shop/web", "to": "a"}],
    )
    assert len(others) == 2
    assert others[0]["why"] == "60 % of it is requested, and it is emptied up to 50 %"
    assert given.evictions.asked == []
