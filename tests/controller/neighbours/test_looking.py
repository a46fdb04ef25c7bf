from collections.abc import Sequence

import numpy as np
from nemutator_common import names
from nemutator_controller.ingest.usage_points import UsagePoints
from nemutator_controller.neighbours.learning import NeighbourLearner
from nemutator_controller.neighbours.links import NodeFindings
from nemutator_controller.neighbours.looking import NeighbourAssessments
from nemutator_controller.neighbours.model import NeighbourRole, PlacedContainer
from nemutator_controller.neighbours.node_window import FIGURES, GIB, MB, Key, Values
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
    def of(self, node: str, key: Key) -> PlacedContainer | None:
        return placed(f"{key[0]}-1", node=node)


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
