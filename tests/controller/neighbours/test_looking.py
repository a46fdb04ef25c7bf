import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from nemutator_common import names
from nemutator_controller.hysteresis import DOWN_TIMES
from nemutator_controller.ingest.usage_points import Series, UsagePoints
from nemutator_controller.neighbours.learning import NeighbourLearner
from nemutator_controller.neighbours.links import NodeFindings
from nemutator_controller.neighbours.looking import AT_ONCE, SHARE, NeighbourAssessments
from nemutator_controller.neighbours.model import NeighbourRole, PlacedContainer
from nemutator_controller.neighbours.node_window import FIGURES, Key, Values
from nemutator_controller.neighbours.point_figures import GIB, MB
from nemutator_controller.neighbours.resources import Contended
from nemutator_controller.neighbours.verdicts import Verdicts

from tests.controller.neighbours.graded import placed
from tests.controller.neighbours.windows import MINUTE, NOW, container
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.planted_neighbours import planted_node
from tests.fakes.process import fake_process


class Places:
    def of_all(self, node: str, keys: Sequence[Key]) -> Sequence[PlacedContainer | None]:
        return [placed(f"{uid}-1", node=node) for uid, _ in keys]


class PlacesOfEachNode:
    def of_all(self, node: str, keys: Sequence[Key]) -> Sequence[PlacedContainer | None]:
        return [placed(f"{node}.{uid}-1", node=node) for uid, _ in keys]


async def in_turn(function: object, *given: Sequence[Values]) -> list[NodeFindings]:
    assert callable(function)
    found = function(*given)
    assert isinstance(found, list)
    return found


def reported(values: Values, until: float) -> UsagePoints:
    """What an agent says of the minutes up to *until*."""
    _, rows, minutes = values.shape
    cpu, memory, disk, network, *waits = values.astype(np.float64).reshape(len(FIGURES), -1)
    ends = np.tile(until - MINUTE * np.arange(minutes - 1, -1, -1.0), rows)
    return UsagePoints(
        series=[container(f"p{row}") for row in range(rows)],
        of=np.repeat(np.arange(rows), minutes).astype(np.int32),
        from_at=ends - MINUTE,
        to_at=ends,
        columns={
            "cpu_cores": cpu,
            "memory_bytes": memory * GIB,
            "disk_read": disk * MB,
            "network_sent": network * MB,
            "cpu_waiting": 100 * waits[0],
            "memory_waiting": 100 * waits[1],
            "disk_waiting": 100 * waits[2],
            "run_delay_p99": waits[3],
        },
    )


async def test_a_planted_aggressor_is_named_after_two_looks() -> None:
    clock, meter = ManualClock(now=NOW + 1), MemoryMeter()
    process = fake_process(clock=clock, meter=meter)
    learner = NeighbourLearner(process, most_nodes=10)
    node = planted_node(300, Contended.CPU, minutes=59)
    (planted,) = node.aggressors
    learner.learn("n1", reported(node.values, NOW), NOW + 1)
    assessments = NeighbourAssessments(
        learner, Places(), Verdicts(share=1.0, most=100), in_turn, process
    )
    async with in_background(assessments.run(), clock):
        await clock.advance(3 * MINUTE)
        await clock.until_sleeping(1)
    latest = assessments.latest
    assert latest.at == NOW + 1 + 3 * MINUTE
    assert {one.aggressor.pod for one in latest.links} == {f"p{planted}-1"}
    assert meter.value(names.NEIGHBOUR_LINKS) == len(latest.links) > 0
    victims = [one for one in latest.pods if one.grades[NeighbourRole.VICTIM].now]
    counted = sum(
        meter.value(names.NEIGHBOUR_PODS, role="victim", grade=str(grade)) for grade in range(1, 5)
    )
    assert counted == len(victims)
    assert meter.value(names.NEIGHBOURS_UNTOLD) == 0


async def test_nobody_reports_and_nobody_is_named() -> None:
    clock = ManualClock(now=NOW)
    process = fake_process(clock=clock)
    learner = NeighbourLearner(process, most_nodes=10)
    assessments = NeighbourAssessments(
        learner, Places(), Verdicts(share=1.0, most=100), in_turn, process
    )
    assert assessments.latest.at == 0.0
    await assessments.assess()
    assert assessments.latest.at == NOW
    assert assessments.latest.pods == ()


async def test_of_more_nodes_than_there_is_time_for_each_has_its_turn() -> None:
    clock, meter = ManualClock(now=NOW + 1), MemoryMeter()
    process = fake_process(clock=clock, meter=meter)
    learner = NeighbourLearner(process, most_nodes=1_000)
    planted = planted_node(300, Contended.CPU, minutes=59)
    count = 4 * AT_ONCE
    for number in range(count):
        # One of the last is the one with an aggressor.
        values = planted.values if number == count - 1 else planted.values[:, :1, :1]
        learner.learn(f"n{number}", reported(values, NOW), NOW + 1)
    turns: list[float] = []

    async def slowly(function: object, *given: Sequence[Values]) -> list[NodeFindings]:
        turns.append(clock.monotonic())
        assert len(given[0]) == AT_ONCE
        await clock.sleep(0.8 * SHARE * MINUTE)
        return await in_turn(function, *given)

    assessments = NeighbourAssessments(
        learner, PlacesOfEachNode(), Verdicts(share=1.0, most=1_000), slowly, process
    )

    async def look() -> None:
        async with asyncio.TaskGroup() as running:
            running.create_task(assessments.assess())
            await clock.until_sleeping()
            await clock.advance(MINUTE)

    await look()
    assert turns == [0.0, pytest.approx(0.8 * MINUTE)], "it works a fifth of the time"
    assert meter.value(names.NEIGHBOUR_NODES_LEFT) == count - 2 * AT_ONCE
    assert not assessments.latest.links
    await look()
    # Now it was the others' turn, and what was found stays while those before are looked at again.
    links = assessments.latest.links
    assert links
    await look()
    assert assessments.latest.links == links
    assert not [one for one in assessments.latest.pods if one.grades[NeighbourRole.VICTIM].now]
    await look()
    assert [one for one in assessments.latest.pods if one.grades[NeighbourRole.VICTIM].now]


async def test_a_node_that_is_gone_takes_what_was_found_on_it_along() -> None:
    clock = ManualClock(now=NOW + 1)
    process = fake_process(clock=clock)
    learner = NeighbourLearner(process, most_nodes=10)
    node = planted_node(300, Contended.CPU, minutes=59)
    learner.learn("n1", reported(node.values, NOW), NOW + 1)
    assessments = NeighbourAssessments(
        learner, Places(), Verdicts(share=1.0, most=100), in_turn, process
    )
    await assessments.assess()
    await assessments.assess()
    assert assessments.latest.pods
    learner.windows.clear()
    await assessments.assess()
    assert (assessments.latest.pods, assessments.latest.links) == ((), ())
    assert assessments.latest.known_pods == frozenset()
    for _ in range(DOWN_TIMES):
        await assessments.assess()
    assert assessments.latest.workloads == ()


async def test_the_group_that_holds_all_pods_hides_no_aggressor() -> None:
    clock = ManualClock(now=NOW + 1)
    process = fake_process(clock=clock)
    learner = NeighbourLearner(process, most_nodes=10)
    node = planted_node(300, Contended.CPU, minutes=59)
    (planted,) = node.aggressors
    # Kubelet's own group: what it takes is what all pods take.
    everything = np.concatenate(
        [node.values, np.nansum(node.values, axis=1, keepdims=True)], axis=1
    )
    told = reported(everything, NOW)
    series = [*told.series[:-1], Series("/kubepods", None, None, None)]
    learner.learn("n1", replace(told, series=series), NOW + 1)
    assessments = NeighbourAssessments(
        learner, Places(), Verdicts(share=1.0, most=100), in_turn, process
    )
    await assessments.assess()
    assert {one.aggressor.pod for one in assessments.latest.links} == {f"p{planted}-1"}
