from typing import Literal

from nemutator_common.windows import WindowPause
from nemutator_controller.ageing.pauses import HOLDS_S, Pauses


def pause(
    node: str = "n1",
    *,
    paused: bool = True,
    reason: Literal["cpu", "memory", "sampling", ""] = "cpu",
) -> WindowPause:
    return WindowPause(node=node, at=1.0, paused=paused, reason=reason, why="it is too much")


def test_a_pause_stands_until_its_node_goes_on() -> None:
    pauses = Pauses()
    pauses.take(pause("n2"), now=0.0)
    pauses.take(pause(), now=0.0)
    assert [one.node for one in pauses.standing(now=1.0)] == ["n1", "n2"]
    pauses.take(pause(paused=False), now=2.0)
    assert [one.node for one in pauses.standing(now=3.0)] == ["n2"]


def test_sampling_and_the_budget_stop_each_for_itself() -> None:
    pauses = Pauses()
    pauses.take(pause(reason="sampling"), now=0.0)
    pauses.take(pause(), now=0.0)
    pauses.take(pause(reason="memory"), now=0.0)
    assert [one.reason for one in pauses.standing(now=1.0)] == ["memory", "sampling"]
    pauses.take(pause(reason="memory", paused=False), now=2.0)
    assert [one.reason for one in pauses.standing(now=3.0)] == ["sampling"]
    # An agent that does not say what has ended means all.
    pauses.take(pause(reason="", paused=False), now=4.0)
    assert pauses.standing(now=5.0) == []


def test_a_node_that_is_not_heard_of_any_more_has_no_pause() -> None:
    pauses = Pauses()
    pauses.take(pause(), now=0.0)
    assert pauses.standing(now=HOLDS_S - 1)
    pauses.take(pause(), now=HOLDS_S - 1)
    assert pauses.standing(now=HOLDS_S + 1)
    assert not pauses.standing(now=2 * HOLDS_S)
