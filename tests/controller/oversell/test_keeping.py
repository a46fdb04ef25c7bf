"""Ratios come to stand on nodes slowly, never unlogged, and go when nobody wants them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.oversell.keeping import (
    AGAIN_S,
    EVERY_S,
    NOT_APPLIED,
    OVER,
    PATH,
    UNWANTED_S,
    OversellKeeping,
    tombstone_of,
)
from nemutator_controller.oversell.model import SoundOversell, oversell_of
from nemutator_controller.oversell.observed_nodes import (
    CeilingUnknownError,
    NodeRefusedError,
    ObservedNode,
)
from nemutator_controller.oversell.ratios import ratio_text

from tests.controller.oversell.test_observed_nodes import observed
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

MINUTES = 6
APPLY = oversell_of("p", {"maxCPURatio": 1.25, "mode": "Apply"})
PREVIEW = oversell_of("p", {"maxCPURatio": 1.25})


@dataclass
class MemoryNodes:
    """`ObservedNodes` whose webhook answers at once."""

    clock: ManualClock
    there: list[ObservedNode] | None
    refuses: bool = False
    is_gone: bool = False
    applies: bool = True
    written: list[tuple[str, int | None]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    within_s: list[float] = field(default_factory=list)

    async def now(self, *, counted_within_s: float) -> Sequence[ObservedNode] | None:
        self.within_s.append(counted_within_s)
        if self.there is None:
            return None
        self.there = [replace(one, reported_at=self.clock.now()) for one in self.there]
        return self.there

    async def write(self, node: ObservedNode, ratio: int | None) -> bool:
        if self.refuses:
            raise NodeRefusedError("forbidden")
        self.written.append((node.name, ratio))
        self.put(node.name, ratio)
        return not self.is_gone

    def put(self, name: str, ratio: int | None) -> None:
        kept = "4" if self.applies else ""
        marks: dict[str, str] = {}
        if ratio is not None:
            marks = {
                names.OVERSELL_RATIO: ratio_text(ratio),
                **({names.RAW_CPU: kept} if kept else {}),
            }
        amount = 40 * ratio if ratio is not None and self.applies else 4_000
        self.there = [
            replace(one, annotations=marks, allocatable_millis=amount) if one.name == name else one
            for one in self.there or ()
        ]

    def notify(self, node: ObservedNode, note: str) -> None:
        self.told.append(f"{node.name}: {note}")


@dataclass
class Policies:
    of: list[SoundOversell] | None
    bad: dict[str, str] = field(default_factory=dict)

    def sound(self) -> Sequence[SoundOversell] | None:
        return self.of

    def faulty(self) -> Mapping[str, str]:
        return self.bad


@dataclass
class Seasons:
    most: int | None = None
    known: bool = True

    def ceiling(self) -> int | None:
        if not self.known:
            raise CeilingUnknownError("not yet")
        return self.most


@dataclass
class Journal:
    decisions: list[Decision] = field(default_factory=list)
    stones: list[Tombstone] = field(default_factory=list)
    is_full: bool = False
    is_away: bool = False

    async def add(self, decision: Decision) -> None:
        if self.is_full:
            raise StoreUnavailableError("full")
        self.decisions.append(decision)

    async def tombstones(self) -> Sequence[Tombstone]:
        if self.is_away:
            raise StoreUnavailableError("busy")
        return self.stones


class Oversold:
    """A brain that has watched its nodes for some minutes."""

    def __init__(self, *policies: SoundOversell, most: int = 10, nodes: int = 1) -> None:
        self.clock, self.meter = ManualClock(), MemoryMeter()
        there = [observed(name=f"n{one}", uid=f"u{one}") for one in range(nodes)]
        self.nodes = MemoryNodes(self.clock, there)
        self.policies, self.seasons, self.journal = Policies(list(policies)), Seasons(), Journal()
        ids = iter(range(1_000))
        self.keeping = OversellKeeping(
            self.nodes,
            self.policies,
            self.seasons,
            self.journal,
            fake_process(clock=self.clock, meter=self.meter),
            most=most,
            fresh=lambda: f"d{next(ids)}",
        )

    async def minutes(self, count: int = MINUTES) -> None:
        for _ in range(count):
            await self.keeping.round()
            await self.clock.advance(60)

    def said(self, name: str = "n0") -> tuple[int, str]:
        (found,) = (one for one in self.keeping.verdicts if one.name == name)
        return found.ratio, found.reason


async def test_a_ratio_rises_a_tenth_in_ten_minutes_and_each_change_is_in_the_journal() -> None:
    one = Oversold(APPLY)
    await one.minutes(40)
    assert one.nodes.written == [("n0", 110), ("n0", 120), ("n0", 125)]
    edits = [each.edits[0] for each in one.journal.decisions]
    assert [(edit.before, edit.after) for edit in edits] == [
        ((), ("1.10",)),
        (("1.10",), ("1.20",)),
        (("1.20",), ("1.25",)),
    ]
    assert {edit.path for edit in edits} == {PATH}
    assert edits[0].reason == "it changes by a tenth in ten minutes at most"
    assert one.journal.decisions[0].subject.kind == "Node"
    assert one.said() == (125, "asked")
    assert one.meter.value(names.OVERSELL_WRITES, result="raised") == 3
    assert one.meter.value(names.OVERSOLD_NODES, reason="asked") == 1


async def test_preview_writes_nothing_and_says_where_it_would_lead() -> None:
    one = Oversold(PREVIEW, most=0)
    await one.minutes()
    assert one.nodes.written == []
    assert one.said() == (125, "preview")
    [verdict] = one.keeping.verdicts
    assert (verdict.could, verdict.standing, verdict.asked) == (200, 100, 125)


async def test_without_a_policy_it_is_said_what_could_be() -> None:
    one = Oversold()
    await one.minutes()
    assert one.said() == (100, "unselected")
    assert one.keeping.verdicts[0].could == 200


async def test_where_nobody_wants_anything_pods_may_have_been_counted_a_while_ago() -> None:
    one = Oversold()
    one.policies.of = None
    await one.minutes(1)
    assert one.nodes.within_s == []
    # Nobody knows before the first look whether something stands; that seasons are not known is no reason to count.
    one.policies.of, one.seasons.known = [], False
    await one.minutes(2)
    assert one.nodes.within_s == [0.0, UNWANTED_S]
    one.seasons.known = True
    await one.minutes(1)
    assert one.nodes.within_s[-1] == UNWANTED_S
    one.policies.bad = {"p": "maxCPURatio: expected 1 to 2"}
    await one.minutes(1)
    assert one.nodes.within_s[-1] == 0.0
    one.policies.bad = {}
    one.policies.of = [APPLY]
    await one.minutes(2)
    assert one.nodes.within_s[-1] == 0.0
    assert one.nodes.written == [("n0", 110)]
    one.policies.of = []
    one.nodes.within_s.clear()
    await one.minutes(3)
    # What stands has to go first.
    assert one.nodes.written[-1] == ("n0", None)
    assert one.nodes.within_s == [0.0, 0.0, UNWANTED_S]


async def test_a_node_without_the_label_is_left_alone() -> None:
    one = Oversold(APPLY)
    one.nodes.there = [observed(labels={})]
    await one.minutes()
    assert one.nodes.written == []
    assert one.said("n") == (125, "not_enabled")


@pytest.mark.parametrize("how", ["deleted", "preview", "label"])
async def test_what_nobody_wants_any_more_goes_at_once(how: str) -> None:
    one = Oversold(APPLY)
    await one.minutes()
    match how:
        case "deleted":
            one.policies.of = []
        case "preview":
            one.policies.of = [PREVIEW]
        case _:
            assert one.nodes.there is not None
            one.nodes.there = [replace(one.nodes.there[0], labels={})]
    await one.keeping.round()
    assert one.nodes.written[-1] == ("n0", None)
    assert one.journal.decisions[-1].edits[0].after == ()
    assert one.meter.value(names.OVERSELL_WRITES, result="removed") == 1


async def test_with_the_setting_at_0_what_stands_is_taken_away_whatever_is_requested() -> None:
    one = Oversold(APPLY, most=0)
    one.nodes.put("n0", 150)
    await one.minutes(1)
    assert one.nodes.written == [("n0", None)]
    assert one.said()[1] == "most"


async def test_no_more_nodes_than_the_setting_allows_and_those_that_have_a_ratio_keep_it() -> None:
    one = Oversold(APPLY, most=1, nodes=3)
    one.nodes.put("n2", 110)
    await one.minutes(8)
    assert {name for name, _ in one.nodes.written} <= {"n2"}
    assert [one.said(f"n{number}")[1] for number in (0, 1)] == ["most", "most"]


async def test_a_node_that_gains_nothing_takes_no_others_place() -> None:
    one = Oversold(APPLY, most=1, nodes=2)
    assert one.nodes.there is not None
    idle, full = one.nodes.there
    one.nodes.there = [replace(idle, requested_millis=0), full]
    await one.minutes(8)
    assert {name for name, _ in one.nodes.written} == {"n1"}


async def test_while_a_policy_is_faulty_what_stands_stays() -> None:
    one = Oversold()
    one.nodes.put("n0", 110)
    one.policies.bad = {"p": "spec: bad"}
    await one.minutes(2)
    assert one.nodes.written == []


async def test_the_season_holds_it_down() -> None:
    one = Oversold(APPLY)
    one.seasons.most = 105
    await one.minutes(30)
    assert one.said() == (105, "season")
    one.seasons.most = None
    await one.minutes(15)
    assert one.said()[0] > 105


async def test_what_was_taken_back_does_not_rise_again() -> None:
    one = Oversold(APPLY)
    one.journal.stones = [tombstone_of("n0")]
    await one.minutes(15)
    assert one.nodes.written == []
    assert one.said() == (100, "taken_back")


async def test_who_changes_it_back_whenever_it_was_written_is_told() -> None:
    one = Oversold(APPLY)
    for _ in range(60):
        await one.minutes(1)
        if one.nodes.there is not None and one.nodes.there[0].ratio == 110:
            await one.keeping.round()
            one.nodes.put("n0", None)
        one.keeping._stepped.clear()
    assert len(one.nodes.told) == 1
    assert one.said() == (100, "disputed")


async def test_a_refusal_is_counted_and_nothing_is_tried_for_some_time() -> None:
    one = Oversold(APPLY, nodes=3)
    one.nodes.refuses = True
    await one.minutes(8)
    assert one.meter.value(names.OVERSELL_WRITES, result="refused") == 1
    assert one.said("n1") == (100, "refused")
    one.nodes.refuses = False
    await one.clock.advance(AGAIN_S)
    await one.minutes(3)
    assert len(one.nodes.written) == 3


async def test_what_is_not_in_the_journal_is_not_done() -> None:
    one = Oversold(APPLY)
    one.journal.is_full = True
    await one.minutes(8)
    assert one.nodes.written == []


async def test_while_something_is_not_known_nothing_changes_and_it_is_said() -> None:
    one = Oversold(APPLY)
    one.nodes.put("n0", 110)
    there, one.nodes.there = one.nodes.there, None
    await one.minutes(1)
    assert one.keeping.problem == "nodes or NodeOversells are not listed yet"
    one.nodes.there, one.policies.of = there, None
    await one.minutes(1)
    one.policies.of, one.seasons.known = [], False
    await one.minutes(1)
    assert one.keeping.problem == "not yet"
    one.seasons.known, one.journal.is_away = True, True
    await one.minutes(1)
    assert one.keeping.problem == "the journal: busy"
    assert one.nodes.written == []
    assert one.keeping.verdicts == ()


async def test_a_node_without_amounts_keeps_what_stands() -> None:
    one = Oversold(APPLY)
    assert one.nodes.there is not None
    one.nodes.put("n0", 110)
    one.nodes.there = [replace(one.nodes.there[0], allocatable_millis=None, annotations={})]
    await one.minutes()
    assert one.said() == (100, "not_counted")
    assert one.nodes.written == []


async def test_that_the_webhook_does_not_answer_and_that_pods_request_more_is_said() -> None:
    one = Oversold(APPLY)
    one.nodes.applies = False
    await one.minutes(8)
    assert one.keeping.verdicts[0].note == NOT_APPLIED
    other = Oversold(APPLY)
    other.nodes.there = [observed(requested_millis=4_100)]
    await other.minutes(1)
    assert other.keeping.verdicts[0].note == OVER


async def test_a_node_that_is_gone_is_counted_and_no_more_written_to() -> None:
    one = Oversold(APPLY)
    one.nodes.is_gone = True
    await one.minutes()
    assert one.meter.value(names.OVERSELL_WRITES, result="changed") == 1


async def test_after_a_restart_a_ratio_that_stands_waits_for_its_next_step() -> None:
    one = Oversold(APPLY)
    one.nodes.put("n0", 110)
    await one.minutes(9)
    assert one.nodes.written == []
    await one.minutes(3)
    assert one.nodes.written == [("n0", 120)]


async def test_it_runs_every_quarter_of_a_minute() -> None:
    one = Oversold(PREVIEW)
    async with in_background(one.keeping.run(), one.clock):
        first = one.keeping.at
        await one.clock.advance(EVERY_S)
        assert one.keeping.at - first == EVERY_S
