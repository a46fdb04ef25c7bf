import pytest
from nemutator_controller.neighbours.links import NodeFindings
from nemutator_controller.neighbours.looked_nodes import VICTIM, LookedNode, looked_pods
from nemutator_controller.neighbours.model import NeighbourLink
from nemutator_controller.neighbours.reasons import MOST_NAMED, reason
from nemutator_controller.neighbours.week_grades import LEAST_TIMES

from tests.controller.neighbours.graded import link, placed


def links(count: int) -> list[NeighbourLink]:
    """Of one victim, with *count* aggressors."""
    containers = [placed("victim-1"), *(placed(f"noise{at}-1") for at in range(count))]
    nothing = [""] * len(containers)
    found = NodeFindings(tuple(link(0, at + 1) for at in range(count)), nothing, nothing, 1)
    pods = looked_pods(LookedNode("n1", containers, found)).pods
    return list(pods["uid-victim-1"].links[VICTIM])


def test_the_surest_are_named_and_the_rest_are_counted() -> None:
    assert " more" not in reason(links(MOST_NAMED), "", 0)
    several = reason(links(MOST_NAMED + 2), "", 0)
    assert several.endswith("; and 2 more")
    assert sum(several.count(f"noise{at}") for at in range(MOST_NAMED + 2)) == MOST_NAMED


def test_a_link_says_more_than_that_nobody_can_tell() -> None:
    assert "noise0" in reason(links(1), "its node has not reported", 0)


@pytest.mark.parametrize("times", [0, LEAST_TIMES - 1])
def test_without_links_it_is_said_what_a_verdict_waits_for(times: int) -> None:
    assert reason((), "its node has not reported", times) == "its node has not reported"
    assert f"there were {times}" in reason((), "", times)


def test_who_was_looked_at_often_enough_and_is_quiet_needs_no_reason() -> None:
    assert reason((), "", LEAST_TIMES) == ""
