"""A status has room for a hundred nodes, and counts all."""

from nemutator_controller.kube.objects import Metadata
from nemutator_controller.oversell.status_rows import (
    MOST_NODES,
    NodeOversellObject,
    OversellReason,
    OversoldNode,
    conditions_of,
    rows_of,
)

from tests.controller.oversell.test_verdicts import verdict

POLICY = NodeOversellObject(metadata=Metadata(name="p", generation=3))


def test_the_highest_ratios_come_first_and_the_rest_is_counted() -> None:
    many = [verdict(f"n{number:03}", "use", 100) for number in range(MOST_NODES)]
    found = rows_of([*many, verdict("z", "asked", 150)], ())
    assert found.nodes[0] == OversoldNode("z", "1.50", "asked")
    assert (len(found.nodes), found.nodes_left_off) == (MOST_NODES, 1)
    assert found.reasons == (OversellReason("asked", 1), OversellReason("use", MOST_NODES))


def test_conditions_say_how_many_and_keep_the_time_of_their_change() -> None:
    own = [verdict(), verdict("m", ratio=100)]
    ready, oversold = conditions_of(POLICY, own, None, moment="t1")
    assert (ready.status, oversold.status, oversold.message) == ("True", "True", "1 of 2 nodes")
    assert oversold.observed_generation == 3
    told = NodeOversellObject(metadata=POLICY.metadata, status=rows_of(own, (ready, oversold)))
    assert conditions_of(told, own, None, moment="t2") == (ready, oversold)
    ready, oversold = conditions_of(told, [], "spec: bad", moment="t2")
    assert (ready.status, ready.message, ready.last_transition_time) == ("False", "spec: bad", "t2")
    assert oversold.status == "False"
