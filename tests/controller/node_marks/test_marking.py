"""Nodes bear what is wanted, within bounds, and against nobody who insists on something else."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.node_marks.marking import (
    AGAIN_S,
    EVERY_S,
    MOST_AT_ONCE,
    NodeMarking,
)
from nemutator_controller.node_marks.marks import (
    NO_MARKS,
    MarkedNode,
    NodeMarks,
    NodeTaint,
    NotMarkedNodeError,
)

from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

KEY = str(names.PRESSURE)
ME, ANOTHER = "nemutator", "nemutator-too"
FOREIGN = NodeTaint("gpu", "a", "NoSchedule")


def node(name: str, *taints: NodeTaint) -> MarkedNode:
    return MarkedNode(name=name, uid=f"uid-{name}", version="1", taints=taints)


def written_by(writer: str, *taints: NodeTaint) -> MarkedNode:
    noted = {str(names.MARKED_BY): f"{KEY}={writer}"}
    return replace(node("n", *taints), annotations=noted)


@dataclass
class Nodes:
    """`MarkableNodes` in memory."""

    there: dict[str, MarkedNode] = field(default_factory=dict)
    known: bool = True
    refused: bool = False
    written: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def now(self) -> Sequence[MarkedNode] | None:
        return list(self.there.values()) if self.known else None

    async def write(self, node: MarkedNode, patch: Any) -> None:
        self.written.append(node.name)
        if self.refused:
            raise NotMarkedNodeError("may not patch nodes")
        taints = patch.get("spec", {}).get("taints")
        if taints is not None:
            made = tuple(
                NodeTaint(one["key"], one.get("value", ""), one["effect"]) for one in taints
            )
            self.there[node.name] = replace(node, taints=made)
        for key, value in patch.get("metadata", {}).get("annotations", {}).items():
            found = dict(self.there[node.name].annotations)
            found.pop(key, None)
            if value is not None:
                found[key] = value
            self.there[node.name] = replace(self.there[node.name], annotations=found)

    def notify(self, node: MarkedNode, note: str) -> None:
        self.told.append(note)


@dataclass
class Wishes:
    grade: dict[str, str | None] = field(default_factory=dict)
    keys: frozenset[str] = frozenset({KEY})
    refreshed: int = 0

    async def refresh(self) -> None:
        self.refreshed += 1

    def wanted(self, node: MarkedNode) -> NodeMarks | None:
        grade = self.grade.get(node.name, "")
        if grade is None:
            return None
        return NodeMarks({KEY: NodeTaint(KEY, grade)}) if grade else NO_MARKS


@dataclass
class Marked:
    nodes: Nodes
    wishes: Wishes = field(default_factory=Wishes)
    clock: ManualClock = field(default_factory=ManualClock)
    meter: MemoryMeter = field(default_factory=MemoryMeter)

    def __post_init__(self) -> None:
        process = fake_process(clock=self.clock, meter=self.meter)
        self.marking = NodeMarking(self.nodes, [self.wishes], process, ME)


async def test_a_taint_comes_changes_and_goes_and_that_of_others_stays() -> None:
    given = Marked(Nodes({"n": node("n", FOREIGN)}))
    async with in_background(given.marking.run(), given.clock):
        for grade, taints in (
            ("2", (FOREIGN, NodeTaint(KEY, "2"))),
            ("3", (FOREIGN, NodeTaint(KEY, "3"))),
            ("", (FOREIGN,)),
        ):
            given.wishes.grade["n"] = grade
            await given.clock.advance(EVERY_S)
            assert given.nodes.there["n"].taints == taints
        await given.clock.advance(10 * EVERY_S)
    assert given.nodes.written == ["n"] * 3
    assert given.meter.value(names.NODE_MARK_WRITES, result="written") == 3


async def test_what_cannot_be_told_stays() -> None:
    given = Marked(Nodes({"n": node("n", NodeTaint(KEY, "2"))}), Wishes({"n": None}))
    await given.marking.round()
    assert given.nodes.written == []
    given.nodes.known = False
    given.wishes.grade["n"] = "3"
    await given.marking.round()
    assert given.nodes.written == []


async def test_what_nobody_decides_on_is_taken_away() -> None:
    given = Marked(Nodes({"n": node("n")}), Wishes({"n": "2"}))
    await given.marking.round()
    assert given.nodes.there["n"].taints == (NodeTaint(KEY, "2"),)
    await NodeMarking(given.nodes, [], fake_process(), ME).round()
    assert given.nodes.there["n"] == node("n")


@pytest.mark.parametrize("writer", [ANOTHER, "", "a b=c ="])
async def test_what_another_installation_or_nobody_known_has_written_stays(writer: str) -> None:
    there = written_by(writer, NodeTaint(KEY, "2"))
    nodes = Nodes({"n": there})
    await NodeMarking(nodes, [], fake_process(), ME).round()
    assert (nodes.there["n"], nodes.written) == (there, [])


async def test_of_two_installations_one_without_marks_takes_none_away_and_each_takes_its_own() -> (
    None
):
    given = Marked(Nodes({"n": node("n")}), Wishes({"n": "3"}))
    silent = NodeMarking(given.nodes, [], fake_process(), ANOTHER)
    for _ in range(3):
        await given.marking.round()
        await silent.round()
    assert (given.nodes.there["n"].taints, given.nodes.written) == ((NodeTaint(KEY, "3"),), ["n"])
    # Whoever decides on a mark takes it over with the next change, as where the other one is gone.
    wishes = Wishes({"n": "3"})
    deciding = NodeMarking(given.nodes, [wishes], fake_process(), ANOTHER)
    await deciding.round()
    assert given.nodes.written == ["n"]
    wishes.grade["n"] = "1"
    await deciding.round()
    await NodeMarking(given.nodes, [], fake_process(), ME).round()
    assert given.nodes.there["n"].taints == (NodeTaint(KEY, "1"),)
    await silent.round()
    assert given.nodes.there["n"] == node("n")


async def test_what_stands_as_wanted_and_is_nobodys_becomes_ours() -> None:
    given = Marked(Nodes({"n": node("n", NodeTaint(KEY, "2"))}), Wishes({"n": "2"}))
    await given.marking.round()
    await given.marking.round()
    assert given.nodes.written == ["n"]
    assert given.nodes.there["n"].writers == {KEY: ME}


async def test_no_round_writes_more_than_some() -> None:
    many = {f"n{number}": node(f"n{number}") for number in range(MOST_AT_ONCE + 5)}
    given = Marked(Nodes(many), Wishes(dict.fromkeys(many, "4")))
    await given.marking.round()
    assert len(given.nodes.written) == MOST_AT_ONCE
    await given.marking.round()
    assert len(given.nodes.written) == len(many)


async def test_a_refused_node_is_left_alone_for_some_minutes() -> None:
    given = Marked(Nodes({"n": node("n")}, refused=True), Wishes({"n": "1"}))
    await given.marking.round()
    await given.marking.round()
    assert given.nodes.written == ["n"]
    given.nodes.refused = False
    await given.clock.advance(AGAIN_S)
    await given.marking.round()
    assert given.nodes.there["n"].taints == (NodeTaint(KEY, "1"),)
    assert given.meter.value(names.NODE_MARK_WRITES, result="refused") == 1


async def test_whoever_insists_is_given_way_to_and_it_is_said_once() -> None:
    given = Marked(Nodes({"n": node("n")}), Wishes({"n": "1"}))
    for _ in range(20):
        await given.marking.round()
        # It is seen to stand before somebody takes it away.
        await given.marking.round()
        given.nodes.there["n"] = node("n")
        await given.clock.advance(EVERY_S)
    assert len(given.nodes.written) == 3
    assert len(given.nodes.told) == 1
