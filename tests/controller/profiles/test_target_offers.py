from collections.abc import Sequence
from dataclasses import replace

import pytest
from nemutator_common.wire import ProcessUsage
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.cluster.pods import NoRunningPods
from nemutator_controller.profiles.api_requests import InvalidProfileRequestError, TargetQuestion
from nemutator_controller.profiles.target_offers import MOST_NODES, TargetOffers

from tests.fakes.batches import busy_report, process, workload
from tests.fakes.profiles import NOW

UNIT = "/system.slice/ssh.service"


def node(name: str, *processes: ProcessUsage, cores: float = 1.0) -> ReportedNode:
    report = busy_report()
    machine = replace(report.machine, cpu_cores=cores)
    changed = replace(report, machine=machine, workloads=(workload(UNIT),), processes=processes)
    return ReportedNode.of(name, "e1", 1, NOW, changed)


def called(command: str, pid: int = 7) -> ProcessUsage:
    return replace(process(pid), command=command)


def listing(*nodes: ReportedNode) -> TargetOffers:
    return TargetOffers(lambda: nodes, NoRunningPods())


async def refusal(nodes: Sequence[ReportedNode], asked: TargetQuestion) -> tuple[int, str]:
    with pytest.raises(InvalidProfileRequestError) as refused:
        await listing(*nodes).resolved(asked)
    assert refused.value.remedy
    return refused.value.status, str(refused.value)


async def test_a_name_becomes_the_one_target_that_has_it() -> None:
    nodes = [node("n1", called("shop")), node("n2", called("till"))]
    found = await listing(*nodes).resolved(TargetQuestion("name", "till"))
    assert found == TargetQuestion("pid", "7", "n2")
    unit = await listing(*nodes).resolved(TargetQuestion("unit", "ssh", "n1"))
    assert unit == TargetQuestion("cgroup", UNIT, "n1")


async def test_what_is_no_name_stays_as_it_is() -> None:
    asked = TargetQuestion("pid", "1")
    assert await listing().resolved(asked) is asked


async def test_a_name_of_several_or_of_none_is_refused() -> None:
    nodes = [node("n1", called("shop")), node("n2", called("shop", 8))]
    status, what = await refusal(nodes, TargetQuestion("name", "shop"))
    assert (status, what) == (409, "'shop' is the name of several: pid:7 on n1, pid:8 on n2")
    assert (await listing(*nodes).resolved(TargetQuestion("name", "shop", "n2"))).value == "8"
    status, what = await refusal(nodes, TargetQuestion("name", "shops"))
    assert (status, what) == (404, "no process, unit or pod is called 'shops'")
    assert (await refusal(nodes, TargetQuestion("unit", "shop")))[1] == "no unit is called 'shop'"


async def test_a_bare_number_is_explained() -> None:
    with pytest.raises(InvalidProfileRequestError) as refused:
        await listing(node("n1")).resolved(TargetQuestion("name", "1234"))
    assert refused.value.remedy.startswith("write pid:1234 for a process; ")


async def test_only_the_busiest_of_very_many_nodes_are_looked_at() -> None:
    nodes = [node(f"n{number}", called("shop"), cores=number) for number in range(MOST_NODES + 3)]
    offer = await listing(*nodes).offer()
    assert (len({one.node for one in offer.targets}), offer.nodes_left) == (MOST_NODES, 3)
    assert "n0" not in {one.node for one in offer.targets}
    status, what = await refusal(nodes, TargetQuestion("name", "shop"))
    assert (status, f"{MOST_NODES + 3} nodes" in what) == (409, True)
    assert {one.node for one in (await listing(*nodes).offer("n0")).targets} == {"n0"}
